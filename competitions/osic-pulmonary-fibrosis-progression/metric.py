"""The modified Laplace log likelihood on each patient's last three measured weeks: which rows count
depends on the others, which no built-in metric knows. Source of the formula:
https://www.kaggle.com/c/osic-pulmonary-fibrosis-progression/overview/evaluation.
"""

import numpy as np
import pandas as pd

LAST_WEEKS = 3
LEAST_DEVIATION, LARGEST_ERROR = 70.0, 1000.0
ROOT = np.sqrt(2.0)


def prepare(answers: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """The rows that count, and what was measured there."""
    keys = answers["Patient_Week"].str.rsplit("_", n=1, expand=True)
    weeks = pd.DataFrame({"patient": keys[0], "week": keys[1].astype(int)})
    last = weeks.sort_values("week", kind="stable").groupby("patient").tail(LAST_WEEKS).index
    return last.to_numpy(), answers["FVC"].to_numpy()[last]


def score(prepared: tuple[np.ndarray, np.ndarray], submission: pd.DataFrame) -> float:
    last, measured = prepared
    deviation = np.maximum(submission["Confidence"].to_numpy()[last], LEAST_DEVIATION)
    error = np.minimum(np.abs(measured - submission["FVC"].to_numpy()[last]), LARGEST_ERROR)
    # The logarithm of the factors one by one: their product may leave the range of a double.
    return float(np.mean(-ROOT * error / deviation - (np.log(ROOT) + np.log(deviation))))
