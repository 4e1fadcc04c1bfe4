"""Log loss with weights by target and answer, normalised within each study: rows are grouped by a
part of their id, which only this competition does. Source of the weights:
https://www.kaggle.com/c/rsna-2022-cervical-spine-fracture-detection/overview/evaluation.
"""

import numpy as np
import pandas as pd

EPSILON = 1e-15
OVERALL, OVERALL_WEIGHT, POSITIVE_WEIGHT = "patient_overall", 7.0, 2.0


def prepare(answers: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Which rows are positive, and the weight of each: those of a study sum to its share."""
    positive = answers["fractured"].to_numpy() == 1
    parts = answers["row_id"].str.split("_", n=1, expand=True)
    weights = np.where(parts[1] == OVERALL, OVERALL_WEIGHT, 1.0)
    weights *= np.where(positive, POSITIVE_WEIGHT, 1.0)
    studies, _ = pd.factorize(parts[0])
    totals = np.bincount(studies, weights)
    return positive, weights / totals[studies] / len(totals)


def score(prepared: tuple[np.ndarray, np.ndarray], submission: pd.DataFrame) -> float:
    positive, weights = prepared
    p = np.clip(submission["fractured"].to_numpy(), EPSILON, 1 - EPSILON)
    return -float(np.log(np.where(positive, p, 1 - p)) @ weights)
