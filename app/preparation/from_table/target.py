"""Propose how a target is predicted: the kind of its column and the metric."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.domain.columns import FIRST_INEXACT
from app.errors import Invalid
from app.metrics import METRICS

MAX_NUMERIC_CLASSES = 20  # whole numbers with more values are quantities
MAX_CLASSES = 1000
ROWS_PER_CLASS = 5  # on average; a text that seldom repeats is not a class
CLASSES = ("label", "probability", "boolean")  # kinds of columns
BOOLEANS = {"true": "1", "false": "0"}
NO_NUMBERS = ("nan", "na", "n/a", "null", "inf", "+inf", "-inf")  # texts that mean a missing value
RARE = 0.8  # from this share of the largest class on, accuracy says little


@dataclass(frozen=True, slots=True)
class Target:
    """How a column is predicted. `reason` says why, for the person who decides.

    With `is_class` its values are classes: then a split can keep their shares.
    """

    kind: str
    metric: str
    reason: str
    is_class: bool

    @property
    def least(self) -> float | None:
        """The smallest number for which the metric is defined, if the kind does not state it."""
        return METRICS[self.metric].minimum if self.kind in ("number", "integer") else None


def numbers(values: pd.Series[str]) -> pd.Series[float] | None:
    """The values as numbers; None if one is not a finite number."""
    found = pd.to_numeric(values, errors="coerce")
    return found.astype(float) if np.isfinite(found).all() else None


def propose(values: pd.Series[str], metric: str = "") -> Target:
    """The kind and the metric for a target; `metric` chooses the metric, and so a fitting kind.

    Raises:
        Invalid: values are missing, all equal or nearly all different texts, or the metric does
            not take such a column.
    """
    missing = np.flatnonzero(values == "")
    if len(missing):
        raise Invalid(
            f"The target {values.name!r} is empty in {len(missing)} rows, first in row "
            f"{missing[0] + 1}: remove these rows, or fill them."
        )
    _require_no_lack(values)
    distinct = values.nunique()
    if distinct == 1:
        raise Invalid(f"The target {values.name!r} is {values.iloc[0]!r} in every row.")
    proposed, kinds = _proposal(values, distinct)
    if not metric:
        return proposed
    if metric not in METRICS:
        raise Invalid(f"There is no metric {metric!r}; docs/metrics.md lists them.")
    if any(parameter.required for parameter in METRICS[metric].parameters.values()):
        raise Invalid(
            f"{metric} needs parameters: choose another, and change competition.toml then."
        )
    for kind in kinds:
        if kind in METRICS[metric].kinds:
            is_class = kind in CLASSES or kind == proposed.kind == "integer"
            chosen = Target(kind, metric, f"chosen; {proposed.reason}", is_class=is_class)
            _require_defined(values, chosen)
            return chosen
    raise Invalid(
        f"{metric} takes columns of kind {', '.join(sorted(METRICS[metric].kinds))}, and "
        f"{values.name!r} is {' or '.join(kinds)}: {proposed.reason}."
    )


def answers(values: pd.Series[str], target: Target) -> pd.Series[str]:
    """The target in the form of the answers: 1 and 0 if probabilities are predicted."""
    if target.kind != "probability":
        return values
    ones = _numbered(values).astype(float).astype(int)  # a table may have 1.0
    return ones.astype(str)


def _numbered(values: pd.Series[str]) -> pd.Series[str]:
    return values.map(lambda text: BOOLEANS.get(text.lower(), text))


def _require_defined(values: pd.Series[str], target: Target) -> None:
    found = numbers(values)
    if target.least is None or found is None or found.min() >= target.least:
        return
    row = int(found.argmin())
    raise Invalid(
        f"{target.metric} is defined from {target.least:g} up, and the target {values.name!r} is "
        f"{values.iloc[row]} in row {row + 1}: choose another by --metric."
    )


def _require_no_lack(values: pd.Series[str]) -> None:
    """Refuse numbers with some NaN, which would look like classes."""
    lacks = values.str.strip().str.lower().isin(NO_NUMBERS)
    if lacks.any() and not lacks.all() and numbers(_numbered(values[~lacks])) is not None:
        first = int(np.flatnonzero(lacks)[0])
        raise Invalid(
            f"The target {values.name!r} is {values.iloc[first]!r} in row {first + 1}, of "
            f"{lacks.sum()} such rows, and a number in all others: remove these rows, or fill them."
        )


def _proposal(values: pd.Series[str], distinct: int) -> tuple[Target, tuple[str, ...]]:
    """The proposal, and all possible kinds of the column, the likeliest first."""
    found = numbers(_numbered(values))
    if found is not None and set(found) == {0.0, 1.0}:
        return (
            Target("probability", "roc_auc_score", "it has two values, 0 and 1", is_class=True),
            ("probability", "boolean", "integer", "number", "label"),
        )
    are_few = distinct <= min(MAX_NUMERIC_CLASSES, len(values) // ROWS_PER_CLASS)
    is_whole = found is not None and bool((found == found.round()).all())
    if found is not None and is_whole and are_few and found.abs().max() >= FIRST_INEXACT:
        found = None  # as texts, because different ones would be the same double
    if found is not None and is_whole and are_few:
        reason = f"it has {distinct} whole numbers, which look like classes"
        classes = Target("integer", _accuracy(values), reason, is_class=True)
        return classes, ("integer", "number", "label")
    if found is not None:
        quantity = Target("number", "root_mean_squared_error", "it has numbers", is_class=False)
        return quantity, ("number",)
    if distinct > MAX_CLASSES or len(values) < ROWS_PER_CLASS * distinct:
        raise Invalid(
            f"The target {values.name!r} has {distinct} different texts in {len(values)} rows: "
            "that is neither a number nor a class."
        )
    reason = f"it has {distinct} texts, which look like classes"
    kinds = ("label", "text", "number") if is_whole else ("label", "text")
    return Target("label", _accuracy(values), reason, is_class=True), kinds


def _accuracy(values: pd.Series[str]) -> str:
    largest = float(values.value_counts(normalize=True).iloc[0])
    return "balanced_accuracy_score" if largest > RARE else "accuracy_score"
