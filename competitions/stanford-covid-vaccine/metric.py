"""The mean of the columns' root mean squared errors (MCRMSE), over the three columns of five that
count; a built-in metric takes all columns. Source of the formula and the choice:
https://www.kaggle.com/c/stanford-covid-vaccine/overview/evaluation.
"""

import numpy as np
import pandas as pd

SCORED = ["reactivity", "deg_Mg_pH10", "deg_Mg_50C"]


def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    squares = (answers[SCORED].to_numpy() - submission[SCORED].to_numpy()) ** 2
    return float(np.sqrt(squares.mean(axis=0)).mean())
