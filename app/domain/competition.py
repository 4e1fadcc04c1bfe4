"""The competition, as its `competition.toml` declares it: strict, frozen, nothing stated twice."""

from __future__ import annotations

import datetime as dt
import json
import re
import tomllib
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    FiniteFloat,
    StringConstraints,
    Tag,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from app.domain.baseline import Baseline, Judgement, judge
from app.domain.columns import Column
from app.domain.medals import MedalRule
from app.errors import BadCompetition

SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}")
TOML = "competition.toml"
USAGE_COLUMN = "Usage"  # Kaggle's name for the column that says Public, Private or Ignored

GRADED, MEASURED = "graded", "measured"
NOT_MEASURED = {
    "submission": "nothing is submitted",
    "answers": "there are none",
    "leaderboard": "what is reported is never placed among human teams",
}

Code = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class MetricChoice(_Section):
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


class Measure(_Section):
    """`[metric]` with `measured = true`: a number that a harness measures and a researcher reports.

    There are no answers, so nothing is submitted or graded. `unit` is the number's unit, `harness`
    says what measures it and how.
    """

    measured: Literal[True]
    name: Code
    higher_is_better: bool
    unit: Text
    harness: Text

    @property
    def parameters(self) -> dict[str, Any]:
        """None: the harness is what it is."""
        return {}


class SubmissionForm(_Section):
    """`[submission]`: the id columns, the prediction columns and their kinds.

    Ids are compared as written, or, of `id_kind` integer, 7, 007 and 7.0 as one. `repeated_ids`
    says that an id may have several rows: those are told apart by their order in the file.
    `optional_ids` says that ids without an answer may be left out. Unknown columns are ignored
    with a warning, or refused where they could only be classes that there are not.
    """

    id: tuple[str, ...]
    id_kind: Literal["text", "integer"] = "text"
    repeated_ids: bool = False
    optional_ids: bool = False
    columns: dict[str, Column] = Field(min_length=1)
    rows_sum_to_one: bool = False
    unknown_columns: Literal["ignore", "refuse"] = "ignore"

    @field_validator("id", mode="before")
    @classmethod
    def _one_id_may_stand_alone(cls, names: Any) -> Any:
        """Take `id = "x"` for `id = ["x"]`."""
        if isinstance(names, str):
            return (names,)
        return tuple(names) if isinstance(names, list) else names

    @model_validator(mode="after")
    def _columns_do_not_contradict(self) -> Self:
        if not self.id or not all(self.id):
            raise ValueError("id must name at least one column")
        if len(set(self.id)) != len(self.id):
            raise ValueError("id names a column twice")
        shared = sorted(set(self.id) & set(self.columns))
        if shared:
            raise ValueError(f"{shared[0]!r} is both an id and a prediction column")
        if USAGE_COLUMN in (*self.id, *self.columns):
            raise ValueError(f"a column may not be called {USAGE_COLUMN}: that marks answer rows")
        if "" in self.columns:
            raise ValueError("a column needs a name")
        names = [name for n, c in self.columns.items() for name in (n, *c.aliases)] + [*self.id]
        twice = sorted(name for name in set(names) if names.count(name) > 1)
        if twice:
            raise ValueError(f"{twice[0]!r} names two columns")
        if self.rows_sum_to_one and not self.probability_columns:
            raise ValueError("rows_sum_to_one needs columns of kind probability")
        return self

    @property
    def aliases(self) -> dict[str, str]:
        """Other names of columns, each with the name it stands for."""
        return {alias: name for name, c in self.columns.items() for alias in c.aliases}

    @property
    def probability_columns(self) -> tuple[str, ...]:
        """The names of the columns of kind probability."""
        return tuple(name for name, c in self.columns.items() if c.kind == "probability")


class AnswersFile(_Section):
    """`[answers]`: the file below `private/` that holds the answers, where it departs from ours.

    `columns` gives the names that columns have there (`{ label = "category_id" }`), `kinds` the
    kinds of those that a submission writes otherwise (boxes there, points here), and `unscored`
    the rows that count nowhere, by the texts of a column (`{ u_out = ["1"] }`).
    """

    file: str = "answers.csv"
    columns: dict[str, str] = Field(default_factory=dict)
    kinds: dict[str, Column] = Field(default_factory=dict)
    unscored: dict[str, tuple[str, ...]] = Field(default_factory=dict)

    @field_validator("file")
    @classmethod
    def _is_a_plain_name(cls, file: str) -> str:
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", file):
            raise ValueError(f"{file!r} is not a plain file name below private/")
        return file


class LeaderboardSource(_Section):
    """`[leaderboard]`: where the human board is from; its medal lines where it is not shipped."""

    source: Text
    captured_at: dt.date | None = None
    awards_medals: bool = True
    rule: MedalRule = MedalRule.MLE_BENCH
    teams: int | None = Field(default=None, ge=1)
    gold: FiniteFloat | None = None
    silver: FiniteFloat | None = None
    bronze: FiniteFloat | None = None
    median: FiniteFloat | None = None


class Flag(_Section):
    """A known issue of the competition, carried wherever its medals are shown."""

    code: Code
    note: Text


def _is_measured(section: Any) -> str:
    measured = section.get("measured") if isinstance(section, dict) else section.measured
    return MEASURED if measured is True else GRADED


class Competition(_Section):
    """A competition as `competition.toml` declares it. The folder's name is its slug.

    Either submissions are graded, or results are measured: then there is no `submission`.
    """

    slug: str
    title: Text
    version: int = Field(ge=1)
    category: Text | None = None
    complexity: Literal["low", "medium", "high"] | None = None
    tags: tuple[Text, ...] = ()
    metric: Annotated[
        Annotated[MetricChoice, Tag(GRADED)] | Annotated[Measure, Tag(MEASURED)],
        Discriminator(_is_measured),
    ]
    submission: SubmissionForm | None = Field(default=None, validate_default=True)
    answers: AnswersFile = AnswersFile()
    leaderboard: LeaderboardSource | None = None
    baseline: Baseline | None = None
    flags: tuple[Flag, ...] = ()

    @field_validator("slug")
    @classmethod
    def _slug_is_plain(cls, slug: str) -> str:
        if not SLUG.fullmatch(slug):
            raise ValueError(f"{slug!r} is not a slug: letters, digits and hyphens, at most 100")
        return slug

    @field_validator("submission", "answers", "leaderboard")
    @classmethod
    def _is_graded_or_measured(cls, section: Any, info: ValidationInfo) -> Any:
        key, metric = str(info.field_name), info.data.get("metric")
        if isinstance(metric, Measure) and section is not None:
            raise ValueError(f"remove this: the metric is measured, and {NOT_MEASURED[key]}")
        if isinstance(metric, MetricChoice) and section is None and key == "submission":
            raise ValueError("this key is required")
        return section

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
            TypeError: the competition is measured. Whoever lets files in asks before.
        """
        if self.submission is None:
            raise TypeError(f"{self.slug} is measured and takes no submissions")
        return self.submission

    def against_baseline(self, score: float, threshold: float | None = None) -> Judgement | None:
        """What a score is worth against the baseline, None without one.

        `threshold` stands for the declared one where it is given.

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

    @model_validator(mode="after")
    def _medal_lines_are_ordered(self) -> Self:
        board = self.leaderboard
        if board is None:
            return self
        lines = [(n, getattr(board, n)) for n in ("gold", "silver", "bronze")]
        known = [(name, line) for name, line in lines if line is not None]
        if known and board.teams is None:
            raise ValueError("leaderboard.teams is needed beside the medal lines")
        sign = 1.0 if self.metric.higher_is_better else -1.0
        for (better, a), (worse, b) in pairwise(known):
            if sign * a < sign * b:
                raise ValueError(
                    f"leaderboard.{better} = {a} is worse than {worse} = {b}, but for "
                    f"{self.metric.name} "
                    + ("higher" if self.metric.higher_is_better else "lower")
                    + " is better"
                )
        return self


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
    raise ValueError(
        f"{metric_name!r} does not tell its direction: end it in _score (higher is better), "
        "or in _error or _loss (lower is better)"
    )


def parse_competition(slug: str, text: str) -> Competition:
    """Read the text of a `competition.toml`.

    Raises:
        BadCompetition: with every problem found, each with its key.
    """
    try:
        document = tomllib.loads(text)
        # Strict means: no "5" for 5 and no 1 for true. Only in JSON mode does pydantic then still
        # take lists, dates and enumerations as TOML writes them.
        strict = json.dumps({**_plain(document), "slug": slug}, default=_as_text)
    except (ValueError, RecursionError) as error:
        raise BadCompetition([{"file": TOML, "key": "", "message": f"not TOML: {error}"}]) from None
    if "slug" in document:
        raise BadCompetition(
            [{"file": TOML, "key": "slug", "message": "the folder's name is the slug; remove this"}]
        )
    try:
        return Competition.model_validate_json(strict, strict=True)
    except ValidationError as error:
        raise BadCompetition([_problem(e) for e in error.errors(include_url=False)]) from None


def _plain(document: dict[str, Any]) -> dict[str, Any]:
    """The document with `rows_sum_to_one` taken from among the columns, where people write it."""
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


def _problem(error: Any) -> dict[str, str]:
    """One pydantic error as file, key and message, in the reader's words."""
    # A discriminated union adds the tag to the path ("columns", "count", "number", "min"); the
    # reader's file has no such level.
    location = [str(part) for part in error["loc"]]
    if location[:2] == ["submission", "columns"] and len(location) > 3:
        del location[3]
    if location[:1] == ["metric"] and location[1:2] in ([GRADED], [MEASURED]):
        del location[1]
    message = {
        "extra_forbidden": "unknown key",
        "missing": "this key is required",
    }.get(error["type"], error["msg"].removeprefix("Value error, "))
    return {"file": TOML, "key": ".".join(location), "message": message}
