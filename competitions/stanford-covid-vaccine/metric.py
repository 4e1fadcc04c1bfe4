"""The mean of the columns' root mean squared errors (MCRMSE), over the three columns of five that
count; a built-in metric takes all columns. Source of the formula and the choice:
https://www.kaggle.com/c/stanford-covid-vaccine/overview/evaluation.
"""

import numpy as np
import pandas as pd

# It stands for an error whose square leaves the range of a double: a score is always finite.
LARGEST = np.finfo(np.float64).max
SCORED = ["reactivity", "deg_Mg_pH10", "deg_Mg_50C"]


def prepare(answers: pd.DataFrame) -> list[np.ndarray]:
    """The right values, column by column."""
    return [answers[name].to_numpy() for name in SCORED]


def score(prepared: list[np.ndarray], submission: pd.DataFrame) -> float:
    errors = (submission[name].to_numpy() - y for name, y in zip(SCORED, prepared, strict=True))
    with np.errstate(over="ignore"):
        mean = np.mean([np.sqrt(np.mean(error**2)) for error in errors])
    return min(float(mean), LARGEST)
