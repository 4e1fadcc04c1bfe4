"""The JSON models of the parts of a grader's reply: strict, and of limited size.

A process that ran a competition's metric.py may have written a reply. So every text has a limited
length and no control characters, every number is finite and every code is known.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from app.domain.leaderboard import Standing
from app.domain.medals import Medal
from app.domain.verdict import Notice, Verdict, Violation, ViolationCode, WarningCode
from app.graders.messages.results import CompetitionCheck, GraderFault, Rejected
from app.grading.graded import Graded, Sketch
from app.resampling.uncertainty import MedalChances, Uncertainty

MESSAGE, NAME, PLACE = 4000, 500, 300  # greatest lengths of texts, in characters
MOST = 1000  # entries of a list
_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str, length: int) -> str:
    r"""Escape the control characters of a text, and cut it to a length.

    >>> printable("one\ntwo", 20), printable("a long text", 6)
    ('one\\ntwo', 'a l...')
    """
    escaped = _CONTROL.sub(lambda found: ascii(found.group())[1:-1], text)
    return escaped if len(escaped) <= length else escaped[: length - 3] + "..."


def _without_control_characters(text: str) -> str:
    if _CONTROL.search(text):
        raise ValueError("a control character")
    return text


def _without_sign_of_zero(score: float) -> float:
    """Replace -0.0 by 0.0, as SQLite does; PostgreSQL would store another text of the grade."""
    return score + 0.0


_Plain = AfterValidator(_without_control_characters)
_Message = Annotated[str, StringConstraints(max_length=MESSAGE), _Plain]
_Name = Annotated[str, StringConstraints(max_length=NAME), _Plain]
_Place = Annotated[str, StringConstraints(max_length=PLACE), _Plain]
_Score = Annotated[float, AfterValidator(_without_sign_of_zero)]
Count = Annotated[int, Field(ge=0, le=10**15)]


class ReplyModel(BaseModel):
    """The base model of all parts of a reply.

    Use `vars` to read its fields: it takes a fifth of the time of `dict`, which calls `keys` first.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class StandingModel(ReplyModel):
    """A place among the teams of a leaderboard."""

    score: _Score
    medal: Medal | None
    better: Count | None
    equal: Count | None
    worse: Count | None
    teams: Count | None
    percentile: float | None
    above_median: bool | None
    decimals: Count | None = None
    borderline: bool = False
    unrounded_medal: Medal | None = None


class NoticeModel(ReplyModel):
    """A warning about an accepted file."""

    code: WarningCode
    message: _Message


class ViolationModel(ReplyModel):
    """A problem of a submission."""

    code: ViolationCode
    message: _Message
    column: _Name | None
    row: Count | None
    examples: Annotated[tuple[_Name, ...], Field(max_length=5)]


class VerdictModel(ReplyModel):
    """A verdict on a file's form."""

    type: Literal["verdict", "rejected"]
    violations: Annotated[tuple[ViolationModel, ...], Field(max_length=MOST)]
    warnings: Annotated[tuple[NoticeModel, ...], Field(max_length=MOST)]

    def result(self) -> Verdict | Rejected:
        """The verdict, or the rejection with this verdict."""
        verdict = Verdict(
            tuple(Violation(**vars(violation)) for violation in self.violations),
            tuple(Notice(**vars(warning)) for warning in self.warnings),
        )
        return verdict if self.type == "verdict" else Rejected(verdict)


class SketchModel(ReplyModel):
    """A sketch of a file's predictions; bytes in hex."""

    rows: Count
    blocks: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{512}$")]
    cells: Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{512})?$")]

    def result(self) -> Sketch:
        """The sketch."""
        return Sketch(self.rows, bytes.fromhex(self.blocks), bytes.fromhex(self.cells))


class GradedModel(ReplyModel):
    """A graded submission."""

    type: Literal["graded"]
    score: _Score
    public_score: _Score | None
    search_score: _Score | None = None
    standing: StandingModel | None
    warnings: Annotated[tuple[NoticeModel, ...], Field(max_length=MOST)]
    sketch: SketchModel | None = None

    def result(self) -> Graded:
        """The grade."""
        standing = None if self.standing is None else Standing(**vars(self.standing))
        warnings = tuple(Notice(**vars(warning)) for warning in self.warnings)
        return Graded(
            self.score,
            self.public_score,
            standing,
            warnings,
            self.search_score,
            None if self.sketch is None else self.sketch.result(),
        )


class FaultModel(ReplyModel):
    """A fault of a grader or of a metric."""

    type: Literal["fault"]
    kind: Literal["memory", "crashed", "metric", "competition", "storage", "internal"]
    place: _Place

    def result(self) -> GraderFault:
        """The fault."""
        return GraderFault(self.kind, self.place)


class NotStartedModel(ReplyModel):
    """A grader could start no process for a job. No job, and so no metric, can send this."""

    type: Literal["not_started"]
    place: _Place

    def result(self) -> GraderFault:
        """The fault."""
        return GraderFault("not_started", self.place)


class ProblemModel(ReplyModel):
    """A problem of a competition's folder."""

    file: _Name
    key: _Name
    message: _Message


class CheckModel(ReplyModel):
    """The result of checking a competition."""

    type: Literal["check"]
    problems: Annotated[tuple[ProblemModel, ...], Field(max_length=MOST)]
    rows: Count | None
    answers_score: _Score | None
    sample_score: _Score | None
    sample_verdict: VerdictModel | None

    def result(self) -> CompetitionCheck:
        """The check."""
        verdict = None if self.sample_verdict is None else self.sample_verdict.result()
        return CompetitionCheck(
            tuple(dict(vars(problem)) for problem in self.problems),
            self.rows,
            self.answers_score,
            self.sample_score,
            verdict if isinstance(verdict, Verdict) else None,
        )


Share = Annotated[float, Field(ge=0, le=1)]


class ChancesModel(ReplyModel):
    """The shares of resamples that win each medal, and none."""

    gold: Share
    silver: Share
    bronze: Share
    none: Share


class UncertaintyModel(ReplyModel):
    """The noise of a score."""

    type: Literal["uncertainty"]
    seed: Count
    rows: Count | None
    resamples: Count
    undefined: Count
    standard_error: Annotated[float, Field(ge=0)] | None
    low: float | None
    high: float | None
    medals: ChancesModel | None
    reason: _Place | None

    def result(self) -> Uncertainty:
        """The uncertainty."""
        medals = None if self.medals is None else MedalChances(**vars(self.medals))
        fields = {name: value for name, value in vars(self).items() if name != "type"}
        return Uncertainty(**{**fields, "medals": medals})


AnswerModel = Annotated[
    GradedModel | VerdictModel | FaultModel | NotStartedModel | CheckModel | UncertaintyModel,
    Field(discriminator="type"),
]
