"""The mean over types of coupling of ln(mean absolute error): rows are grouped by a column of the
answers, and only this competition does so. A group's error is floored at 1e-9, as its evaluation
page says: https://www.kaggle.com/c/champs-scalar-coupling/overview/evaluation.
"""

import numpy as np
import pandas as pd

TARGET, FLOOR = "scalar_coupling_constant", 1e-9


def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    errors = (answers[TARGET] - submission[TARGET]).abs()
    by_type = errors.groupby(answers["type"].to_numpy()).mean()
    return float(np.log(by_type.clip(lower=FLOOR)).mean())
