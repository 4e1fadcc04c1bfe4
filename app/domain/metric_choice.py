"""`[metric]`: the metric of a competition, graded by Podium or measured by a harness."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, field_validator

from app.domain.base_model import Code, Section, Text
from app.domain.metric_aliases import metric_of

GRADED, MEASURED = "graded", "measured"


class MetricChoice(Section):
    """`[metric]`: the metric's name and parameters.

    The name says the direction, as in scikit-learn: `*_score` and `*_corrcoef` up, `*_error` and
    `*_loss` down.
    """

    measured: Literal[False] = False
    name: Code
    parameters: dict[str, Any] = Field(default_factory=dict)

    @field_validator("name")
    @classmethod
    def _name_tells_direction(cls, name: str) -> str:
        higher_is_better(name)
        return name

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger score is a better one."""
        return higher_is_better(self.name)


class MeasuredMetric(Section):
    """`[metric]` with `measured = true`: a number that a harness measures and a researcher reports.

    There are no answers, so nothing is submitted or graded. `unit` is the number's unit, `harness`
    names the program that measures it, and its method.
    """

    measured: Literal[True]
    name: Code
    higher_is_better: bool
    unit: Text
    harness: Text

    @property
    def parameters(self) -> dict[str, Any]:
        """Always empty: a harness has no parameters."""
        return {}


def higher_is_better(metric_name: str) -> bool:
    """The direction that a metric's name declares.

    Raises:
        ValueError: the name has none of the endings that tell a direction.

    >>> higher_is_better("roc_auc_score"), higher_is_better("log_loss")
    (True, False)
    """
    if metric_name.endswith(("_score", "_corrcoef")):
        return True
    if metric_name.endswith(("_error", "_loss")):
        return False
    known = metric_of(metric_name)
    if known is not None:
        raise ValueError(f'{metric_name!r} is named {known} here: write name = "{known}"')
    raise ValueError(
        f"{metric_name!r} is no built-in metric, and for one of your own it does not tell its "
        "direction: end it in _score (higher is better), or in _error or _loss (lower is better)"
    )


def _kind_of(section: Any) -> str:
    is_table = isinstance(section, dict)
    measured = section.get("measured") if is_table else getattr(section, "measured", None)
    return MEASURED if measured is True else GRADED


AnyMetric = Annotated[
    Annotated[MetricChoice, Tag(GRADED)] | Annotated[MeasuredMetric, Tag(MEASURED)],
    Discriminator(_kind_of),
]
