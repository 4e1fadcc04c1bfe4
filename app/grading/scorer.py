"""The metric of a competition, built in or its own, behind one call."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from app.domain.competition import TOML, Competition
from app.errors import BadCompetition, MetricFault
from app.grading.answers import Answers, Part
from app.grading.checked_file import CheckedFile
from app.grading.columns.decoded import is_uniform
from app.grading.custom_metric import load_metric, where
from app.metrics import METRICS, bind, problems


class ScoreFunction(Protocol):
    """Scores predictions against the answers of the same rows: arrays, or DataFrames if custom."""

    def __call__(self, answers: Any, submission: Any, /) -> float:
        """The score."""


@dataclass(frozen=True, slots=True)
class Scorer:
    """A metric, and whether it takes DataFrames (a competition's own) or arrays (a built-in).

    `prepare`, if there, is called once for each part of the answers; the function then gets its
    result in place of the answers.
    """

    name: str
    function: ScoreFunction
    takes_frames: bool = False
    prepare: Callable[[Any], Any] | None = None

    def score(self, answers: Answers, part: Part, checked: CheckedFile) -> float:
        """The score of a checked submission on one part of the answers.

        Raises:
            MetricFault: the metric raised, or returned something that is not a finite number.
        """
        if self.takes_frames:
            return self.score_rows(part, checked.frame(part.rows))
        decoded = checked.decoded if part.rows is None else checked.decoded.take(part.rows)
        return self.score_rows(part, decoded.arrays(answers.labels))

    def score_rows(self, part: Part, predictions: Any) -> float:
        """The score of the predictions for the rows of one part: arrays, or a DataFrame if custom.

        Raises:
            MetricFault: as `score`.
        """
        fault = None
        try:
            truth = part.truth(frames=self.takes_frames, prepare=self.prepare)
            score = self.function(truth, predictions)
        except (Exception, SystemExit) as error:  # a metric may raise anything
            fault = where(error)
        # Raised outside the handler, so that no traceback has the metric's message.
        if fault is not None:
            raise MetricFault(f"the metric {self.name} failed: {fault}")
        if isinstance(score, bool) or not isinstance(score, numbers.Real):
            raise MetricFault(
                f"the metric {self.name} returned {type(score).__name__}, not a number"
            )
        try:
            value = float(score)
        except OverflowError:  # a whole number or a fraction beyond all doubles
            value = math.inf
        if not math.isfinite(value):
            raise MetricFault(f"the metric {self.name} returned a number that is not finite")
        return value


def scorer_for(competition: Competition, metric_source: str | None) -> Scorer:
    """The scorer of a competition; `metric_source` is the text of its metric.py if it has one.

    Raises:
        BadCompetition: the metric is unknown, its parameters are wrong, it cannot take the
            declared columns, or metric.py cannot be loaded.
    """
    choice = competition.metric
    if metric_source is not None:
        own = load_metric(metric_source, competition.slug)
        if choice.parameters:
            message = "a competition's own metric takes no parameters; write them into metric.py"
            raise BadCompetition([{"file": TOML, "key": "metric.parameters", "message": message}])
        return Scorer(choice.name, own.score, takes_frames=True, prepare=own.prepare)
    messages = problems(competition)
    if not messages and not is_uniform(competition.form.columns):
        messages = ["these columns do not make one array; such a mix of kinds needs a metric.py"]
    if messages:
        raise BadCompetition([{"file": TOML, "key": "metric", "message": m} for m in messages])
    function = bind(choice.name, choice.parameters)
    return Scorer(choice.name, function, prepare=METRICS[choice.name].prepare)
