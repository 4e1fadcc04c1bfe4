"""Predict a target with scikit-learn's defaults, as a baseline for submissions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
import sklearn
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from app.preparation.from_table.target import Target, answers, numbers


def predict(
    train: pd.DataFrame, test: pd.DataFrame, column: str, target: Target, seed: int
) -> list[str]:
    """Predictions for the rows of `test`, as cells of a submission."""
    features = [name for name in test.columns if name in train.columns and name != column]
    known, asked = _encoded(train[features], test[features])
    truth = answers(train[column], target)
    if target.kind == "number":
        model = HistGradientBoostingRegressor(random_state=seed)
        found = model.fit(known, truth.astype(float)).predict(asked)
        least = -np.inf if target.least is None else target.least
        return [repr(float(one)) for one in np.maximum(found, least)]
    classifier = HistGradientBoostingClassifier(random_state=seed).fit(known, truth)
    if target.kind == "probability":
        classes = list(classifier.classes_)
        if len(classes) == 1:  # possible for the first days of a split by time
            return [repr(float(classes[0]))] * len(asked)
        one = classes.index("1")
        return [repr(float(each)) for each in classifier.predict_proba(asked)[:, one]]
    return [str(each) for each in classifier.predict(asked)]


def described(target: Target) -> str:
    """The name of the method that made the predictions."""
    kind = "Regressor" if target.kind == "number" else "Classifier"
    return f"HistGradientBoosting{kind} of scikit-learn {sklearn.__version__}, defaults"


def _encoded(
    train: pd.DataFrame, test: pd.DataFrame
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Columns of numbers unchanged, others as ranks of their values; empty cells are NaN."""
    both = pd.concat([train, test])
    columns = []
    for name in both.columns:
        values = both[name]
        filled = values[values != ""]
        found = pd.to_numeric(values, errors="coerce")
        if numbers(filled) is None:
            found = values.where(values != "").rank(method="dense")
        if found.iloc[: len(train)].notna().any():  # scikit-learn fails at a column of NaN
            columns.append(found.to_numpy(dtype=float))
    matrix = np.column_stack(columns) if columns else np.zeros((len(both), 1))
    return matrix[: len(train)], matrix[len(train) :]
