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
Rows = list[tuple[np.ndarray, np.ndarray]]


def prepare(answers: pd.DataFrame) -> list[Rows]:
    """For all rows, and for each family the subgroups: the toxic rows and the harmless ones."""
    toxic = answers[TARGET].to_numpy() >= CUT
    families: list[Rows] = [[], [], []]
    for identity in IDENTITIES:
        member = pd.to_numeric(answers[identity], errors="coerce").to_numpy() >= CUT
        # The subgroup; its background's toxic rows with its own harmless ones; and the reverse.
        for family, rows in zip(families, (member, member != toxic, member == toxic), strict=True):
            family.append((np.flatnonzero(rows & toxic), np.flatnonzero(rows & ~toxic)))
    return [[(np.flatnonzero(toxic), np.flatnonzero(~toxic))], *families]


def score(prepared: list[Rows], submission: pd.DataFrame) -> float:
    flagged = submission[TARGET].to_numpy() >= CUT
    overall, *families = ([_area(flagged, *rows) for rows in family] for family in prepared)
    return 0.25 * overall[0] + 0.25 * sum(map(_mean, families))


def _area(flagged: np.ndarray, toxic: np.ndarray, harmless: np.ndarray) -> float:
    """The area under the ROC curve of predictions that are only yes or no."""
    if not len(toxic) or not len(harmless):
        raise ValueError("AUC is undefined: the answers of a subgroup are all the same")
    right = np.count_nonzero(flagged[toxic]) / len(toxic)
    return (right + 1.0 - np.count_nonzero(flagged[harmless]) / len(harmless)) / 2.0


def _mean(areas: list[float]) -> float:
    if min(areas) == 0.0:
        return 0.0
    return float(np.mean(np.power(areas, POWER)) ** (1.0 / POWER))
