"""The mean over types of coupling of ln(mean absolute error): rows are grouped by a column of the
answers, and only this competition does so. A group's error is floored at 1e-9, as its evaluation
page says: https://www.kaggle.com/c/champs-scalar-coupling/overview/evaluation.
"""

import numpy as np
import pandas as pd

TARGET, FLOOR = "scalar_coupling_constant", 1e-9
LARGEST = np.finfo(np.float64).max
Prepared = tuple[np.ndarray, np.ndarray, np.ndarray]


def prepare(answers: pd.DataFrame) -> Prepared:
    """The right values, each row's type as a number, and how many rows a type has."""
    types, _ = pd.factorize(answers["type"])
    return answers[TARGET].to_numpy(), types, np.bincount(types)


def score(prepared: Prepared, submission: pd.DataFrame) -> float:
    truth, types, counts = prepared
    with np.errstate(over="ignore"):
        errors = np.abs(truth - submission[TARGET].to_numpy())
    # The largest double stands for a sum beyond it: a score is always finite.
    means = np.minimum(np.bincount(types, weights=errors), LARGEST) / counts
    return float(np.log(np.maximum(means, FLOOR)).mean())
