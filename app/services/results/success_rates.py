"""Success rates of an experiment against baselines, with the runs that do not count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from app.domain.baseline import Baseline
from app.domain.result_choices import Baselines, Excluded, Padding, SuccessGroupBy
from app.errors import Conflict
from app.services.experiments import experiments
from app.services.results.inputs.attempts import EXCLUDED
from app.services.results.inputs.competition_info import CompetitionInfo, competition_info
from app.services.results.inputs.scope import ResultFilter, refuse_unknown_flags
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
from app.services.runtime.archival import archived_competitions, suite_slugs
from app.services.runtime.context import Context
from app.statistics.rates import ALL, named_groups
from app.statistics.success import GroupSuccess, SuccessOutcome, success_rates
from app.storage.database.records import ExperimentRecord
from app.storage.queries import competitions
from app.storage.queries.regrades.in_force import InForce, in_force


@dataclass(frozen=True, slots=True)
class SuccessScope:
    """The runs that count, their baselines, and the improvement that makes a success.

    Without a `threshold` each baseline has its own. `starter` is an experiment whose mean scores
    are the baselines of competitions that declare none.
    """

    filters: ResultFilter
    threshold: float | None = None
    baselines: Baselines = Baselines.REQUIRED
    starter: str | None = None


@dataclass(frozen=True, slots=True)
class UsedBaseline:
    """The baseline of the runs at a competition."""

    competition: str
    score: float
    source: str
    threshold: float
    higher_is_better: bool


@dataclass(frozen=True, slots=True)
class SuccessResults:
    """The rates by group, with the data behind them.

    `members` are the competitions of each group. `regrades` are those whose grades it uses.
    `archived_competitions` are left out.
    """

    experiment: ExperimentRecord
    scope: SuccessScope
    competitions: tuple[str, ...]
    groups: dict[str, GroupSuccess]
    members: Mapping[str, Collection[str]]
    lost: dict[str, dict[str, int]]
    missing: tuple[Missing, ...]
    missing_baseline: dict[str, int]
    baselines: tuple[UsedBaseline, ...]
    excluded: tuple[str, ...]
    open: int
    other_scores: int
    failures: dict[str, int]
    flags: tuple[tuple[str, str, str], ...]
    regrades: tuple[InForce, ...] = ()
    archived_competitions: tuple[str, ...] = ()


def success(
    context: Context, name: str, scope: SuccessScope, group_by: SuccessGroupBy | None
) -> SuccessResults:
    """The experiment's success rates over all competitions, and by group.

    Raises:
        NotFound: the experiment or the suite does not exist.
        BaselinesMissing: runs have no baseline, and `scope` requires one for each.
        AttemptsMissing: results are missing, other than of runs that reviews exclude, and the
            padding is none.
        Conflict: no run can be counted.
    """
    record = experiments.find(context, name)
    others = starter_baselines(context, scope.starter) if scope.starter else {}
    filters = scope.filters
    refuse_unknown_flags(context, filters)
    found = outcomes_of(context, name, scope.threshold, others, archived=filters.archived)
    slugs = suite_slugs(context, filters.suite, archived=filters.archived)
    slugs = {each.competition for each in found} if slugs is None else slugs
    info = competition_info(context, slugs)
    unwanted = set(filters.exclude_flags)
    flagged = sorted(s for s in slugs if unwanted & {code for code, _ in info[s].flags})
    counted_as_failed = set(flagged) if filters.excluded is Excluded.FAIL else set()
    counted_slugs = tuple(sorted(slugs - (set(flagged) - counted_as_failed)))
    runs = [each for each in found if each.competition in counted_slugs]
    unjudged: set[str] = set()
    if scope.baselines is Baselines.KNOWN:
        runs = [_known(each) for each in runs]
        unjudged = _unjudged(context, set(counted_slugs), runs, set(others))
    without = Counter(each.competition for each in runs if each.status is ResultStatus.NO_BASELINE)
    if without and scope.baselines is Baselines.REQUIRED:
        raise no_baseline(without)
    without.update(dict.fromkeys(unjudged, 0))
    missing = find_missing(runs, [slug for slug in counted_slugs if slug not in unjudged])
    if any(one.reason != EXCLUDED for one in missing) and filters.padding is Padding.NONE:
        raise incomplete(missing)
    with context.database.read() as session:
        regrades = in_force(session)
    counted, failed = _counted(runs, missing, filters.padding, counted_as_failed)
    if not counted and not failed:
        raise Conflict(
            f"No run of {name!r} here can be counted against a baseline: "
            + (f"{missing[0].competition}: {missing[0].reason}." if missing else "it has none.")
        )
    judged = [each for each in runs if each.competition not in counted_as_failed]
    groups = _groups(counted_slugs, info, group_by)
    members = {**groups, ALL: counted_slugs}
    return SuccessResults(
        experiment=record,
        scope=scope,
        competitions=counted_slugs,
        groups=success_rates(counted, groups, failed=failed),
        members=members,
        lost={name: _lost(runs, slugs) for name, slugs in members.items()},
        missing=missing,
        missing_baseline=dict(sorted(without.items())),
        baselines=_used(runs),
        excluded=tuple(flagged),
        open=sum(each.is_open for each in judged if each.status is ResultStatus.COUNTED),
        other_scores=sum(each.other_scores for each in judged),
        failures=dict(Counter(each.failure for each in runs if each.failure not in (None, "none"))),
        flags=tuple((slug, *flag) for slug in counted_slugs for flag in info[slug].flags),
        regrades=tuple(one for one in regrades if one.competition in counted_slugs),
        archived_competitions=archived_competitions(
            context, filters.suite, [name], archived=filters.archived
        )(name),
    )


def _known(one: RunOutcome) -> RunOutcome:
    """The run; if it has no result yet and no baseline is known, it is left out."""
    without = one.status is ResultStatus.PENDING and one.baseline is None
    return replace(one, status=ResultStatus.NO_BASELINE) if without else one


def _unjudged(
    context: Context, slugs: set[str], runs: Sequence[RunOutcome], starters: set[str]
) -> set[str]:
    """The competitions at which no run can be judged, so that no result is missing there.

    Either all runs there are lost and without a baseline; or there is no run, and no baseline is
    declared or among `starters`.
    """
    with_run = {each.competition for each in runs}
    judged = {
        each.competition
        for each in runs
        if each.status is not ResultStatus.LOST or each.baseline is not None
    }
    return (with_run - judged) | _without_baseline(context, slugs - with_run - starters)


def _without_baseline(context: Context, slugs: set[str]) -> set[str]:
    """The competitions among these whose current version declares no baseline."""
    with context.database.read() as session:
        versions = competitions.list_current(session, slugs=slugs, limit=len(slugs))
    declared = {each.slug: context.catalogue.declaration(each.id).baseline for each in versions}
    return {slug for slug, baseline in declared.items() if baseline is None}


def _counted(
    runs: Sequence[RunOutcome], missing: Sequence[Missing], padding: Padding, as_failed: set[str]
) -> tuple[list[SuccessOutcome], set[str]]:
    """The outcomes that count, and the competitions without a run that count as failed."""
    counted = [_outcome(each, as_failed) for each in runs if each.status is ResultStatus.COUNTED]
    if padding is not Padding.FAIL:
        return counted, set()
    pending = [each for each in runs if each.status is ResultStatus.PENDING]
    counted += [SuccessOutcome(each.competition, None, None, False, False) for each in pending]
    return counted, {each.competition for each in missing if each.reason == NO_RUN}


def _outcome(one: RunOutcome, counted_as_failed: set[str]) -> SuccessOutcome:
    if one.competition in counted_as_failed:
        return SuccessOutcome(one.competition, one.kind, None, False, False, one.usage)
    return SuccessOutcome(
        one.competition, one.kind, one.improvement, one.success, one.ever or one.success, one.usage
    )


def _lost(runs: Sequence[RunOutcome], slugs: Sequence[str]) -> dict[str, int]:
    wanted = set(slugs)
    kinds = [
        each.failure or ""
        for each in runs
        if each.status is ResultStatus.LOST and each.competition in wanted
    ]
    return dict(sorted(Counter(kinds).items()))


def _used(runs: Sequence[RunOutcome]) -> tuple[UsedBaseline, ...]:
    """The baselines of the counted runs. A competition may have one for each of its versions."""
    used: dict[UsedBaseline, None] = {}
    for each in runs:
        baseline: Baseline | None = each.baseline
        if each.status is ResultStatus.COUNTED and baseline is not None:
            assert each.threshold is not None  # noqa: S101 (it comes with the baseline)
            one = UsedBaseline(
                each.competition, baseline.score, baseline.source, each.threshold,
                bool(each.higher_is_better),
            )  # fmt: skip
            used[one] = None
    return tuple(used)


def _groups(
    counted_slugs: Sequence[str], info: Mapping[str, CompetitionInfo], by: SuccessGroupBy | None
) -> dict[str, Sequence[str]]:
    if by is None:
        return {}
    if by is SuccessGroupBy.COMPETITION:
        return named_groups({slug: [slug] for slug in counted_slugs}, by.value)
    of = {slug: {*info[slug].tags} for slug in counted_slugs}
    if by is SuccessGroupBy.CATEGORY:
        of = {slug: {info[slug].category or ""} - {""} for slug in counted_slugs}
    names = sorted(set().union(*of.values()))
    groups = {name: [slug for slug in counted_slugs if name in of[slug]] for name in names}
    return named_groups(groups, by.value)
