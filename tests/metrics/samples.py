"""Random answers and submissions for every registered metric, by the kinds it declares.

A new metric needs nothing here; a new kind of column needs a function in MAKERS.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import ValidationError

from app.metrics import METRICS, Metric, bind
from app.metrics.arrays import Boxes, Lists, Masks

Rng = np.random.Generator
ROWS = 60
PIXELS = 500


@dataclass(frozen=True)
class Sample:
    """Answers, a submission made without knowing them well, and the metric bound to score it."""

    score: Callable[[Any, Any], float]
    y_true: Any
    y_pred: Any


def number(rng: Rng, columns: int, minimum: float | None) -> Iterator[tuple[Any, Any]]:
    low = 0.0 if minimum is None else minimum
    # Rounded, so that there are ties; clipped, so that some stand at the smallest value.
    shift = 2.0 if minimum is None else 0.0
    y_true = np.maximum(rng.lognormal(size=(ROWS, columns)).round(1), low) - shift
    yield y_true, np.maximum(y_true + rng.normal(size=y_true.shape).round(1), low - shift)
    y_true = rng.integers(0, 2, (ROWS, columns)).astype(float)
    yield y_true, np.maximum((y_true + rng.normal(size=y_true.shape)).round(1), low - shift)


def integer(rng: Rng, columns: int, minimum: float | None) -> Iterator[tuple[Any, Any]]:
    for classes in (7, 2):
        shape = (ROWS, columns)
        yield rng.integers(0, classes, shape) * 1.0, rng.integers(0, classes, shape) * 1.0


def boolean(rng: Rng, columns: int, minimum: float | None) -> Iterator[tuple[Any, Any]]:
    yield rng.integers(0, 2, (ROWS, columns)) * 1.0, rng.integers(0, 2, (ROWS, columns)) * 1.0


def probability(rng: Rng, columns: int, minimum: float | None) -> Iterator[tuple[Any, Any]]:
    if columns == 1:
        yield rng.integers(0, 2, (ROWS, 1)) * 1.0, rng.random((ROWS, 1)).round(2)
    else:
        one_hot = np.eye(columns)[rng.integers(0, columns, ROWS)]
        yield one_hot, rng.dirichlet(np.ones(columns), ROWS)


def label(rng: Rng, columns: int, minimum: float | None) -> Iterator[tuple[Any, Any]]:
    # The submission also has labels that the answers do not know: codes beyond theirs.
    yield rng.integers(0, 5, (ROWS, columns)), rng.integers(0, 8, (ROWS, columns))


def text(rng: Rng, columns: int, minimum: float | None) -> Iterator[tuple[Any, Any]]:
    words = np.array(["", "a", "ab", "naïve", "straße", "語", "kitten", "sitting"], dtype=object)
    shape = (ROWS, columns)
    yield words[rng.integers(0, len(words), shape)], words[rng.integers(0, len(words), shape)]


def lists(rng: Rng, columns: int, minimum: float | None) -> Iterator[tuple[Any, Any]]:
    # The answers repeat no item within a row, the submission may.
    offsets = random_offsets(rng, ROWS, 6)
    relevant = np.concatenate([rng.permutation(12)[:n] for n in np.diff(offsets)])
    yield Lists(relevant, offsets), random_lists(rng, ROWS, items=15, longest=9)


def masks(rng: Rng, columns: int, minimum: float | None) -> Iterator[tuple[Any, Any]]:
    yield random_masks(rng, ROWS), random_masks(rng, ROWS)


def boxes(rng: Rng, columns: int, minimum: float | None) -> Iterator[tuple[Any, Any]]:
    def some() -> Boxes:
        offsets = random_offsets(rng, ROWS, 4)
        return Boxes(rng.random((offsets[-1], 4)), offsets, ("x", "y", "width", "height"))

    yield some(), some()


MAKERS: dict[str, Callable[[Rng, int, float | None], Iterator[tuple[Any, Any]]]] = {
    "number": number,
    "integer": integer,
    "boolean": boolean,
    "probability": probability,
    "label": label,
    "text": text,
    "list": lists,
    "mask": masks,
    "boxes": boxes,
}
# These need a form of their own, which their `check` asks for: see test_families.
OWN_FORM = {
    "argmax_accuracy_score",
    "kendall_tau_corrcoef",
    "label_ranking_average_precision_score",
    "mean_angular_error",
    "point_in_box_f1_score",
    "weighted_roc_auc_score",
}
CASES = [
    (name, kind, columns)
    for name, metric in METRICS.items()
    if name not in OWN_FORM
    for kind in sorted(metric.kinds)
    for columns in (
        (1,) if metric.columns == "one" or kind in ("list", "mask", "boxes") else (1, 3)
    )
]


@functools.cache
def sample(name: str, kind: str, columns: int, seed: int) -> Sample:
    """The first pair of the kind whose answers the metric is defined for; read-only."""
    metric = METRICS[name]
    score = bind(name, required_parameters(metric))
    reasons = []
    for y_true, y_pred in MAKERS[kind](np.random.default_rng(seed), columns, metric.minimum):
        found = Sample(score, as_read(y_true, columns), as_read(y_pred, columns))
        try:
            score(found.y_true, found.y_true)
        except ValueError as error:  # a metric says so when its answers must be others
            reasons.append(str(error))
        else:
            return found
    raise AssertionError(f"{name} is defined for no answers of kind {kind}: {reasons}")


def required_parameters(metric: Metric) -> dict[str, Any]:
    """Some value for each parameter that has no default."""

    def some_value(parameter: Any) -> Any:
        for value in (3, 0.5, "a", True, [1, 2, 3]):
            try:
                return parameter.type.validate_python(value, strict=True)
            except ValidationError:
                continue
        raise AssertionError(f"no value here suits {metric.name}'s parameter {parameter.name}")

    return {p.name: some_value(p) for p in metric.parameters.values() if p.required}


def as_read(values: Any, columns: int) -> Any:
    """The shape and memory order that grading hands over; not writable, as answers are kept."""
    if isinstance(values, np.ndarray):
        values = np.asfortranarray(values[:, 0] if columns == 1 else values)
        values.flags.writeable = False
        return values
    for part in values.__slots__:
        if isinstance(getattr(values, part), np.ndarray):
            getattr(values, part).flags.writeable = False
    return values


def random_offsets(rng: Rng, rows: int, longest: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(rng.integers(0, longest + 1, rows))])


def random_lists(rng: Rng, rows: int, items: int, longest: int) -> Lists:
    """Lists of 0 to `longest` of `items` different items, with repeats."""
    offsets = random_offsets(rng, rows, longest)
    return Lists(rng.integers(0, items, offsets[-1]), offsets)


def random_masks(rng: Rng, rows: int) -> Masks:
    """Masks of few and many runs, also touching ones, some empty and some full."""
    dense = rng.random((rows, PIXELS)) < rng.choice([0.0, 0.02, 0.5, 0.98, 1.0], (rows, 1))
    return masks_from_pixels(dense, rng)


def masks_from_pixels(dense: np.ndarray, rng: Rng | None = None) -> Masks:
    """The runs of boolean pixels (rows, pixels); with `rng`, some runs are cut in two."""
    starts, lengths, offsets = [], [], [0]
    for row in dense:
        edges = np.flatnonzero(np.diff(np.concatenate([[0], row.astype(int), [0]])))
        for start, end in edges.reshape(-1, 2).tolist():
            cut = start if rng is None else int(rng.integers(start, end))
            pieces = [(start, cut), (cut, end)] if start < cut else [(start, end)]
            starts += [low for low, _ in pieces]
            lengths += [high - low for low, high in pieces]
        offsets.append(len(starts))
    as_int = [np.array(part, dtype=np.int64) for part in (starts, lengths, offsets)]
    return Masks(*as_int, pixels=dense.shape[1])
