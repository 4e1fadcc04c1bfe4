"""The competition, as its `competition.toml` declares it: strict and frozen."""

from __future__ import annotations

import datetime as dt
import json
import re
import tomllib
from itertools import pairwise
from typing import Any, Literal

from pydantic import (
    Field,
    FiniteFloat,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from app.domain.base_model import Code, Section, Text
from app.domain.baseline import Baseline, Judgement, judge
from app.domain.form import AnswersFile, SubmissionForm
from app.domain.medals import MedalRule
from app.domain.metric_choice import GRADED, MEASURED, AnyMetric, MeasuredMetric, MetricChoice
from app.domain.toml_bounds import out_of_bounds
from app.domain.toml_depth import is_nested_beyond
from app.domain.toml_errors import toml_message
from app.errors import MOST_PROBLEMS, BadCompetition

SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}")
TOML, METRIC_FILE, SAMPLE_FILE = "competition.toml", "metric.py", "public/sample_submission.csv"
NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")  # in JSON
MOST_TAGS = MOST_FLAGS = 100  # results have rates for each tag, and without each flag
BYTE_ORDER_MARK = "\ufeff"  # editors on Windows begin a file with it, and tomllib refuses it
DEEPEST = 8  # nested keys and brackets of a competition.toml; ours nest four deep
LARGEST_VERSION = LARGEST_TEAMS = 2**31 - 1  # what the database's columns take

NOT_MEASURED = {
    "submission": "nothing is submitted",
    "answers": "there are none",
    "leaderboard": "reported results have no place among human teams",
}


class LeaderboardSource(Section):
    """`[leaderboard]`: the source of the human board, and medal lines if it is not shipped."""

    source: Text
    captured_at: dt.date | None = None
    awards_medals: bool = True
    rule: MedalRule = MedalRule.MLE_BENCH
    decimals: int | None = Field(default=None, ge=0, le=15)
    teams: int | None = Field(default=None, ge=1, le=LARGEST_TEAMS)
    gold: FiniteFloat | None = None
    silver: FiniteFloat | None = None
    bronze: FiniteFloat | None = None
    median: FiniteFloat | None = None


class Flag(Section):
    """A known issue of the competition, shown wherever its medals are shown."""

    code: Code
    note: Text


class Competition(Section):
    """A competition as `competition.toml` declares it. The folder's name is its slug.

    Either submissions are graded, or results are measured: then there is no `submission`.
    """

    slug: str
    title: Text
    version: int = Field(ge=1, le=LARGEST_VERSION)
    category: Text | None = None
    complexity: Literal["low", "medium", "high"] | None = None
    tags: tuple[Text, ...] = Field(default=(), max_length=MOST_TAGS)
    metric: AnyMetric
    submission: SubmissionForm | None = Field(default=None, validate_default=True)
    answers: AnswersFile = AnswersFile()
    leaderboard: LeaderboardSource | None = None
    baseline: Baseline | None = None
    flags: tuple[Flag, ...] = Field(default=(), max_length=MOST_FLAGS)

    @field_validator("slug")
    @classmethod
    def _slug_is_plain(cls, slug: str) -> str:
        if not SLUG.fullmatch(slug):
            raise ValueError(
                f"the folder's name {slug!r} cannot be a slug: at most 100 letters, digits and "
                "hyphens; rename the folder"
            )
        return slug

    @field_validator("submission", "answers", "leaderboard")
    @classmethod
    def _is_graded_or_measured(cls, section: Any, info: ValidationInfo) -> Any:
        key, metric = str(info.field_name), info.data.get("metric")
        if isinstance(metric, MeasuredMetric) and section is not None:
            raise ValueError(f"remove this: the metric is measured, and {NOT_MEASURED[key]}")
        if isinstance(metric, MetricChoice) and section is None and key == "submission":
            raise ValueError("this key is required")
        return section

    @field_validator("leaderboard")
    @classmethod
    def _medal_lines_are_ordered(
        cls, board: LeaderboardSource | None, info: ValidationInfo
    ) -> LeaderboardSource | None:
        metric = info.data.get("metric")
        if board is None or metric is None:
            return board
        lines = [(n, getattr(board, n)) for n in ("gold", "silver", "bronze")]
        known = [(name, line) for name, line in lines if line is not None]
        if known and board.teams is None:
            raise ValueError("teams is needed with the medal lines")
        sign, way = (1.0, "higher") if metric.higher_is_better else (-1.0, "lower")
        for (better, a), (worse, b) in pairwise(known):
            if sign * a < sign * b:
                raise ValueError(
                    f"{better} = {a} is worse than {worse} = {b}, but for {metric.name} {way} is "
                    "better"
                )
        return board

    @field_validator("flags")
    @classmethod
    def _flags_are_distinct(cls, flags: tuple[Flag, ...]) -> tuple[Flag, ...]:
        codes = [flag.code for flag in flags]
        if len(set(codes)) != len(codes):
            raise ValueError("a flag is stated twice")
        return flags

    @property
    def is_measured(self) -> bool:
        """Whether results are reported by a harness, and nothing can be submitted."""
        return self.metric.measured

    @property
    def form(self) -> SubmissionForm:
        """The form of a submission.

        Raises:
            TypeError: the competition is measured. Callers check `is_measured` first.
        """
        if self.submission is None:
            raise TypeError(f"{self.slug} is measured and takes no submissions")
        return self.submission

    def against_baseline(self, score: float, threshold: float | None = None) -> Judgement | None:
        """A score compared with the baseline; None where the competition has none.

        `threshold` replaces the declared threshold.

        Raises:
            ValueError: the score is NaN or infinite.
        """
        if self.baseline is None:
            return None
        return judge(
            score,
            self.baseline.score,
            self.baseline.success_threshold if threshold is None else threshold,
            higher_is_better=self.metric.higher_is_better,
        )


def parse_competition(slug: str, text: str, *, is_new: bool = False) -> Competition:
    """Read the text of a `competition.toml`.

    Patterns, whole numbers and images are bounded in one that `is_new`: earlier versions stored
    some without these bounds.

    Raises:
        BadCompetition: it is invalid; the error lists each problem with its key, a hundred at most.
    """
    text = text.removeprefix(BYTE_ORDER_MARK)
    if is_nested_beyond(text, DEEPEST):
        message = f"keys and brackets may be nested {DEEPEST} deep"
        raise BadCompetition([{"file": TOML, "key": "", "message": message}])
    try:
        document = tomllib.loads(text)
        # Strict rejects "5" for 5 and 1 for true. pydantic accepts lists, dates and enumerations
        # as TOML writes them only in strict JSON mode.
        strict = json.dumps({**_with_sum_rule_moved(document), "slug": slug}, default=_as_text)
    except (ValueError, RecursionError) as error:
        raise BadCompetition(
            [{"file": TOML, "key": "", "message": f"not valid TOML: {error}"}]
        ) from None
    if NUL.search(strict):
        message = "a name or text has the character NUL, which PostgreSQL cannot store"
        raise BadCompetition([{"file": TOML, "key": "", "message": message}])
    if "slug" in document:
        raise BadCompetition(
            [{"file": TOML, "key": "slug", "message": "the folder's name is the slug; remove this"}]
        )
    if is_new and (beyond := out_of_bounds(document)):
        raise BadCompetition([{"file": TOML, **each} for each in beyond])
    try:
        return Competition.model_validate_json(strict, strict=True)
    except ValidationError as error:
        found = error.errors(include_url=False)[:MOST_PROBLEMS]
        raise BadCompetition([_error_entry(one) for one in found]) from None


def _with_sum_rule_moved(document: dict[str, Any]) -> dict[str, Any]:
    """The document with `rows_sum_to_one` moved from the columns, where people write it."""
    section = document.get("submission")
    if not isinstance(section, dict) or not isinstance(section.get("columns"), dict):
        return document
    columns = dict(section["columns"])
    if not isinstance(columns.get("rows_sum_to_one"), bool):
        return document
    section = {**section, "rows_sum_to_one": columns.pop("rows_sum_to_one"), "columns": columns}
    return {**document, "submission": section}


def _as_text(moment: dt.date | dt.time) -> str:
    return moment.isoformat()


def _error_entry(error: Any) -> dict[str, str]:
    """A pydantic error as file, key and message, in terms of `competition.toml`."""
    # A discriminated union adds the tag to the path ("columns", "count", "number", "min"); the
    # reader's file has no such level.
    location = [str(part) for part in error["loc"]]
    if location[:2] == ["submission", "columns"] and len(location) > 3:
        del location[3]
    if location[:1] == ["metric"] and location[1:2] in ([GRADED], [MEASURED]):
        del location[1]
    message = toml_message(error, location, Competition)
    if location == ["slug"]:
        return {"file": "", "key": "", "message": message}
    return {"file": TOML, "key": ".".join(location), "message": message}
