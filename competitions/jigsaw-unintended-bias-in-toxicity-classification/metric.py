"""The bias AUC: overall AUC and generalised means of AUCs on identity subgroups, which stand in
further columns of this competition's answers. Source of the formula: Borkan et al., Nuanced Metrics
for Measuring Unintended Bias with Real Data for Text Classification, WWW 2019.

As in MLE-bench, predictions are cut at 0.5 before every AUC, which Kaggle does not do.
"""

import numpy as np
import pandas as pd

IDENTITIES = [
    "male",
    "female",
    "homosexual_gay_or_lesbian",
    "christian",
    "jewish",
    "muslim",
    "black",
    "white",
    "psychiatric_or_mental_illness",
]
TARGET, CUT, POWER = "prediction", 0.5, -5.0


def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    toxic = answers[TARGET].to_numpy() >= CUT
    flagged = submission[TARGET].to_numpy() >= CUT
    families: list[list[float]] = [[], [], []]
    for identity in IDENTITIES:
        member = pd.to_numeric(answers[identity], errors="coerce").to_numpy() >= CUT
        # The subgroup; its background's toxic rows with its own harmless ones; and the reverse.
        for family, rows in zip(families, (member, member != toxic, member == toxic), strict=True):
            family.append(_area(toxic[rows], flagged[rows]))
    return 0.25 * _area(toxic, flagged) + 0.25 * sum(map(_mean, families))


def _area(truth: np.ndarray, flagged: np.ndarray) -> float:
    """The area under the ROC curve of predictions that are only yes or no."""
    if truth.all() or not truth.any():
        raise ValueError("AUC is undefined: the answers of a subgroup are all the same")
    return float(flagged[truth].mean() + 1.0 - flagged[~truth].mean()) / 2.0


def _mean(areas: list[float]) -> float:
    if min(areas) == 0.0:
        return 0.0
    return float(np.mean(np.power(areas, POWER)) ** (1.0 / POWER))
