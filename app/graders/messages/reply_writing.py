"""Convert a grader's results to reply models: printable texts, and lists of limited length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from app.domain.verdict import Notice, Verdict, Violation
from app.graders.messages.reply_models import (
    MESSAGE,
    MOST,
    NAME,
    PLACE,
    AnswerModel,
    ChancesModel,
    CheckModel,
    FaultModel,
    GradedModel,
    NoticeModel,
    NotStartedModel,
    ProblemModel,
    SketchModel,
    StandingModel,
    UncertaintyModel,
    VerdictModel,
    ViolationModel,
    printable,
)
from app.graders.messages.results import CompetitionCheck, GraderFault, Rejected
from app.grading.graded import Graded, Sketch
from app.resampling.uncertainty import Uncertainty

Answer = Graded | Rejected | GraderFault | CompetitionCheck | Verdict | Uncertainty


def answer_model(answer: Answer, most: int = MOST) -> AnswerModel:
    """The reply model of an answer, with at most `most` entries in each list.

    Raises:
        ValueError: the fault is of a kind that only the server reports.
    """
    match answer:
        case Graded():
            standing = answer.standing
            return GradedModel(
                type="graded",
                score=answer.score,
                public_score=answer.public_score,
                search_score=answer.search_score,
                standing=None
                if standing is None
                else StandingModel(
                    score=standing.score, medal=standing.medal, better=standing.better,
                    equal=standing.equal, worse=standing.worse, teams=standing.teams,
                    percentile=standing.percentile, above_median=standing.above_median,
                    decimals=standing.decimals, borderline=standing.borderline,
                    unrounded_medal=standing.unrounded_medal,
                ),
                warnings=_warnings(answer.warnings, most),
                sketch=_sketch(answer.sketch),
            )  # fmt: skip
        case Rejected(verdict=verdict):
            return _verdict(verdict, most, is_rejection=True)
        case Verdict():
            return _verdict(answer, most)
        case GraderFault(kind="not_started", place=place):
            return NotStartedModel(type="not_started", place=printable(place, PLACE))
        case GraderFault(kind=kind, place=place):
            document = {"type": "fault", "kind": kind, "place": printable(place, PLACE)}
            return FaultModel.model_validate(document)
        case Uncertainty():
            return _uncertainty(answer)
        case CompetitionCheck():
            sample = answer.sample_verdict
            return CheckModel(
                type="check",
                problems=_problems(answer.problems, most),
                rows=answer.rows,
                answers_score=answer.answers_score,
                sample_score=answer.sample_score,
                sample_verdict=None if sample is None else _verdict(sample, most),
            )


def _sketch(sketch: Sketch | None) -> SketchModel | None:
    if sketch is None:
        return None
    return SketchModel(rows=sketch.rows, blocks=sketch.blocks.hex(), cells=sketch.cells.hex())


def _uncertainty(answer: Uncertainty) -> UncertaintyModel:
    return UncertaintyModel(
        type="uncertainty",
        seed=answer.seed,
        rows=answer.rows,
        resamples=answer.resamples,
        undefined=answer.undefined,
        standard_error=answer.standard_error,
        low=answer.low,
        high=answer.high,
        medals=None if answer.medals is None else ChancesModel(**asdict(answer.medals)),
        reason=None if answer.reason is None else printable(answer.reason, PLACE),
    )


def _warnings(warnings: Sequence[Notice], most: int = MOST) -> tuple[NoticeModel, ...]:
    """The reply models of warnings."""
    return tuple(
        NoticeModel(code=warning.code, message=printable(warning.message, MESSAGE))
        for warning in warnings[:most]
    )


def _verdict(verdict: Verdict, most: int, *, is_rejection: bool = False) -> VerdictModel:
    return VerdictModel(
        type="rejected" if is_rejection else "verdict",
        violations=tuple(_violation(one) for one in verdict.violations[:most]),
        warnings=_warnings(verdict.warnings, most),
    )


def _violation(one: Violation) -> ViolationModel:
    return ViolationModel(
        code=one.code,
        message=printable(one.message, MESSAGE),
        column=None if one.column is None else printable(one.column, NAME),
        row=one.row,
        examples=tuple(printable(example, NAME) for example in one.examples),
    )


def _problems(problems: Sequence[Mapping[str, str]], most: int) -> tuple[ProblemModel, ...]:
    return tuple(
        ProblemModel(
            file=printable(problem["file"], NAME),
            key=printable(problem["key"], NAME),
            message=printable(problem["message"], MESSAGE),
        )
        for problem in problems[:most]
    )
