"""Log loss with weights by target and answer, normalised within each study: rows are grouped by a
part of their id, which only this competition does. Source of the weights:
https://www.kaggle.com/c/rsna-2022-cervical-spine-fracture-detection/overview/evaluation.
"""

import numpy as np
import pandas as pd

EPSILON = 1e-15
OVERALL, OVERALL_WEIGHT, POSITIVE_WEIGHT = "patient_overall", 7.0, 2.0


def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    truth = answers["fractured"].to_numpy()
    p = np.clip(submission["fractured"].to_numpy(), EPSILON, 1 - EPSILON)
    losses = -(truth * np.log(p) + (1 - truth) * np.log(1 - p))
    parts = answers["row_id"].str.split("_", n=1, expand=True)
    weights = np.where(parts[1] == OVERALL, OVERALL_WEIGHT, 1.0)
    weights *= np.where(truth == 1, POSITIVE_WEIGHT, 1.0)
    studies, _ = pd.factorize(parts[0])
    weighted = np.bincount(studies, weights * losses)
    return float((weighted / np.bincount(studies, weights)).mean())
