"""Half MAP@20 of the categories and half the rescaled area under the ROC curve of `osd`: of two
columns of different kinds, which no built-in metric takes. Where all images of the answers are of
one distribution there is no area, and it counts as that of guessing.

Source of the formula: Kaggle, FathomNet 2023, evaluation page.
"""

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

PLACES = 20
AREA_OF_GUESSING = 0.5


def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    pairs = zip(answers["categories"], submission["categories"], strict=True)
    precision = float(np.mean([_average_precision(_codes(t), _codes(p)) for t, p in pairs]))
    area = _area(answers["osd"].to_numpy(), submission["osd"].to_numpy())
    return 0.5 * (2.0 * (area - 0.5) + precision)


def _area(truth: np.ndarray, found: np.ndarray) -> float:
    if not np.isin(truth, (0.0, 1.0)).all():
        raise ValueError("osd of the answers must be 0 or 1")
    if truth.min() == truth.max():
        return AREA_OF_GUESSING
    return float(roc_auc_score(truth, found))


def _average_precision(relevant: list[int], ranked: list[int]) -> float:
    wanted = set(relevant)
    found: set[int] = set()
    total = 0.0
    for place, item in enumerate(ranked[:PLACES], start=1):
        if item in wanted and item not in found:
            found.add(item)
            total += len(found) / place
    return total / min(len(wanted), PLACES) if wanted else 0.0


def _codes(cell: str) -> list[int]:
    return [int(item) for item in cell.split()]
