"""Success rates of an experiment against baselines: which runs are in them, and which are not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.domain.baseline import Baseline
from app.errors import Conflict
from app.services.experiments import experiments
from app.services.results.attempts import CompetitionInfo, competition_info, gather
from app.services.results.experiment_results import Excluded, ResultFilter
from app.services.results.missing_results import (
    NO_RUN,
    Missing,
    find_missing,
    incomplete,
    no_baseline,
)
from app.services.results.run_outcomes import (
    ResultStatus,
    RunOutcome,
    outcomes_of,
    starter_baselines,
)
from app.services.runtime.context import Context
from app.statistics.attempts import Padding
from app.statistics.success import ALL, GroupSuccess, SuccessOutcome, success_rates
from app.storage.database.records import ExperimentRecord
from app.storage.queries import competitions


class SuccessGroupBy(StrEnum):
    """What success rates are grouped by."""

    COMPETITION = "competition"
    CATEGORY = "category"
    TAG = "tag"


class Baselines(StrEnum):
    """What becomes of runs at competitions without a known baseline."""

    REQUIRED = "required"  # the statistic is refused, and they are listed
    KNOWN = "known"  # they are left out, and listed


@dataclass(frozen=True, slots=True)
class SuccessScope:
    """Which runs count, against what, and how much a success has to improve.

    Without a `threshold` each baseline has its own. `starter` is an experiment whose runs make the
    baselines that competitions do not declare.
    """

    scope: ResultFilter
    threshold: float | None = None
    baselines: Baselines = Baselines.REQUIRED
    starter: str | None = None


@dataclass(frozen=True, slots=True)
class UsedBaseline:
    """What the runs at a competition were held against."""

    competition: str
    score: float
    source: str
    threshold: float
    higher_is_better: bool


@dataclass(frozen=True, slots=True)
class SuccessResults:
    """The rates by group, and what they rest on."""

    experiment: ExperimentRecord
    asked: SuccessScope
    competitions: tuple[str, ...]
    groups: dict[str, GroupSuccess]
    lost: dict[str, dict[str, int]]
    missing: tuple[Missing, ...]
    missing_baseline: dict[str, int]
    baselines: tuple[UsedBaseline, ...]
    excluded: tuple[str, ...]
    open: int
    beside: int
    failures: dict[str, int]
    flags: tuple[tuple[str, str, str], ...]


def success(
    context: Context, name: str, asked: SuccessScope, group_by: SuccessGroupBy | None
) -> SuccessResults:
    """The experiment's success rates over all competitions, and by group.

    Raises:
        NotFound: no such experiment or suite.
        BaselinesMissing: runs have no baseline to be held against, and all must have one.
        AttemptsMissing: results are missing and the padding is none.
        Conflict: no run can be counted.
    """
    record = experiments.find(context, name)
    others = starter_baselines(context, asked.starter) if asked.starter else {}
    found = outcomes_of(context, name, asked.threshold, others)
    scope = asked.scope
    slugs = set(context.catalogue.suite(scope.suite)) if scope.suite else None
    slugs = {each.competition for each in found} if slugs is None else slugs
    facts = competition_info(context, slugs)
    unwanted = set(scope.exclude_flags)
    out = sorted(s for s in slugs if unwanted & {code for code, _ in facts[s].flags})
    fail = set(out) if scope.excluded is Excluded.FAIL else set()
    kept = tuple(sorted(slugs - (set(out) - fail)))
    runs = [each for each in found if each.competition in kept]
    without = Counter(
        each.competition for each in runs if each.standing is ResultStatus.NO_BASELINE
    )
    if without and asked.baselines is Baselines.REQUIRED:
        raise no_baseline(without)
    missing = find_missing(runs, kept)
    if missing and scope.padding is Padding.NONE:
        raise incomplete(missing)
    counted = [_outcome(each, fail) for each in runs if each.standing is ResultStatus.COUNTED]
    failed: set[str] = set()
    if scope.padding is Padding.FAIL:
        pending = [each for each in runs if each.standing is ResultStatus.PENDING]
        counted += [SuccessOutcome(each.competition, None, None, False, False) for each in pending]
        failed = {each.competition for each in missing if each.reason == NO_RUN}
    if not counted and not failed:
        raise Conflict(
            f"No run of {name!r} here can be counted against a baseline: "
            + (f"{missing[0].competition}: {missing[0].reason}." if missing else "it has none.")
        )
    groups = _groups(kept, facts, group_by)
    return SuccessResults(
        experiment=record,
        asked=asked,
        competitions=kept,
        groups=success_rates(counted, groups, failed=failed),
        lost={name: _lost(runs, slugs) for name, slugs in {**groups, ALL: kept}.items()},
        missing=missing,
        missing_baseline=dict(sorted(without.items())),
        baselines=_used(runs),
        excluded=tuple(out),
        open=sum(each.is_open for each in runs if each.standing is ResultStatus.COUNTED),
        beside=sum(each.beside for each in runs),
        failures=dict(Counter(each.failure for each in runs if each.failure not in (None, "none"))),
        flags=tuple((slug, *flag) for slug in kept for flag in facts[slug].flags),
    )


def has_only_baselines(context: Context, name: str, suite: str | None) -> bool:
    """Whether the experiment's competitions (in the suite) are held against baselines alone.

    So it is where all of them are known here, none has a human board, and at least one a baseline
    or a score that is measured.

    Raises:
        NotFound: no such experiment or suite.
    """
    experiments.find(context, name)
    slugs = gather(context, [name])[name].competitions
    if suite:
        slugs &= set(context.catalogue.suite(suite))
    with context.database.read() as session:
        versions = competitions.list_current(session, slugs=slugs, limit=len(slugs))
    known = [context.catalogue.entry(version).competition for version in versions]
    return (
        len(known) == len(slugs)
        and all(one.leaderboard is None for one in known)
        and any(one.baseline is not None or one.is_measured for one in known)
    )


def _outcome(one: RunOutcome, fail: set[str]) -> SuccessOutcome:
    if one.competition in fail:
        return SuccessOutcome(one.competition, one.sort, None, False, False, one.spent)
    return SuccessOutcome(
        one.competition, one.sort, one.improvement, one.success, one.ever or one.success, one.spent
    )


def _lost(runs: Sequence[RunOutcome], slugs: Sequence[str]) -> dict[str, int]:
    wanted = set(slugs)
    kinds = [
        each.failure or ""
        for each in runs
        if each.standing is ResultStatus.LOST and each.competition in wanted
    ]
    return dict(sorted(Counter(kinds).items()))


def _used(runs: Sequence[RunOutcome]) -> tuple[UsedBaseline, ...]:
    """The baselines in the numbers; a competition has several where its versions do."""
    used: dict[UsedBaseline, None] = {}
    for each in runs:
        baseline: Baseline | None = each.baseline
        if each.standing is ResultStatus.COUNTED and baseline is not None:
            assert each.threshold is not None  # noqa: S101 (it comes with the baseline)
            one = UsedBaseline(
                each.competition, baseline.score, baseline.source, each.threshold,
                bool(each.higher_is_better),
            )  # fmt: skip
            used[one] = None
    return tuple(used)


def _groups(
    kept: Sequence[str], facts: Mapping[str, CompetitionInfo], by: SuccessGroupBy | None
) -> dict[str, Sequence[str]]:
    if by is None:
        return {}
    if by is SuccessGroupBy.COMPETITION:
        return {slug: [slug] for slug in kept}
    if by is SuccessGroupBy.TAG:
        tags = sorted({tag for slug in kept for tag in facts[slug].tags})
        return {tag: [slug for slug in kept if tag in facts[slug].tags] for tag in tags}
    names = sorted({facts[slug].category or "" for slug in kept} - {""})
    return {name: [slug for slug in kept if facts[slug].category == name] for name in names}
