"""The attempts that a statistic counts, and how: the same choices for every statistic."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy.orm import Session

from app.domain.result_choices import RATES, Excluded, Padding, Reviews
from app.errors import AttemptsMissing, Invalid, NoResults
from app.services.experiments import experiments
from app.services.public_log.freezes import Freeze, freezes_of
from app.services.results.inputs.attempts import ExperimentResults, gather
from app.services.results.inputs.competition_info import (
    CompetitionInfo,
    competition_info,
    refuse_without_board,
)
from app.services.runtime.archival import archived_competitions, archived_note, suite_slugs
from app.services.runtime.context import Context
from app.statistics.attempt_columns import Attempts
from app.statistics.attempts import Grid, make_grid
from app.statistics.estimates import means_in_percent
from app.storage.database.records import ExperimentRecord
from app.storage.queries import amendments, competitions, exposure
from app.storage.queries.regrades.counted_runs import RunResult
from app.storage.queries.regrades.in_force import NOW, Basis, InForce, in_force


@dataclass(frozen=True, slots=True)
class ResultFilter:
    """The attempts that count, and how: the same for every statistic."""

    suite: str | None = None
    padding: Padding = Padding.NONE
    exclude_flags: tuple[str, ...] = ()
    excluded: Excluded = Excluded.DROP
    archived: bool = False  # whether archived competitions, experiments and runs count too
    basis: Basis = NOW  # which grades count
    reviews: Reviews = Reviews.APPLY

    @property
    def ignores_reviews(self) -> bool:
        """Whether runs that reviews exclude count."""
        return self.reviews is Reviews.IGNORE


@dataclass(frozen=True, slots=True)
class ResultContext:
    """The data behind a statistic, which reports show together with it.

    `open` is the number of open runs that count, `outside` that of results at other competitions,
    `withdrawn` that of imported results that an admin had withdrawn by then. `freeze` is the plan
    from before the first run. `regrades` are those whose grades it uses. `reviewed` are the
    competitions and seeds of the runs that reviews exclude. `with_excluded` are the rates, in
    percent, if these counted; None if there are none, or if a version without medals graded one.
    `archived_competitions` are left out because they are archived.
    """

    experiment: ExperimentRecord
    filters: ResultFilter
    grid: Grid
    missing: tuple[tuple[str, int, str], ...]
    flags: tuple[tuple[str, str, str], ...]
    excluded: tuple[str, ...]
    outside: int
    open: int
    imported: int
    policies: Mapping[str, int]
    failures: Mapping[str, int]
    disclosed: Mapping[str, int]
    withdrawn: int = 0
    freeze: Freeze | None = None
    regrades: tuple[InForce, ...] = ()
    reviewed: tuple[tuple[str, int], ...] = ()
    with_excluded: Mapping[str, float] | None = None
    archived_competitions: tuple[str, ...] = ()


def refuse_unknown_flags(context: Context, filters: ResultFilter) -> None:
    """Refuse a flag that no imported competition has or had then, so that no typo changes a number.

    Raises:
        Invalid: with the unknown flag, and the nearest known one or all known ones.
    """
    if not filters.exclude_flags:
        return
    with context.database.read() as session:
        versions = competitions.list_current(session, limit=None, as_of=filters.basis.as_of)
    known = sorted({flag["code"] for one in versions for flag in one.document.get("flags") or ()})
    for code in filters.exclude_flags:
        if code not in known:
            near = difflib.get_close_matches(code, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"flags here: {', '.join(known)}."
            raise Invalid(
                f"exclude_flags: no imported competition has the flag {code!r}; "
                + (hint if known else "no competition here has a flag.")
            )


def result_context(
    context: Context, name: str, filters: ResultFilter
) -> tuple[ResultContext, dict[str, CompetitionInfo]]:
    """The counted attempts of one experiment.

    Raises:
        NotFound: the experiment or the suite does not exist.
        Invalid: no competition has a flag that is to be excluded.
        AttemptsMissing: results are missing and the padding does not allow it.
        LeaderboardsMissing: a competition has no medals to win.
    """
    with context.database.snapshot():  # of one regrade, before or after it is applied
        counted, info = gathered(context, name, filters)
        return counted(filters), info


def gathered(
    context: Context,
    name: str,
    filters: ResultFilter,
    *,
    with_imports: bool = True,
    note: Callable[[RunResult], None] | None = None,
) -> tuple[Callable[[ResultFilter], ResultContext], dict[str, CompetitionInfo]]:
    """Read an experiment's results once, to count them under several filters.

    The filters may have other flags and another padding than `filters`. The first value returned is
    a function that counts; it raises the errors of `result_context`. Without `with_imports`,
    imported results are missing. Each run is also passed to `note`.
    """
    record = experiments.find(context, name)
    refuse_unknown_flags(context, filters)
    archived, as_of, suite = filters.archived, filters.basis.as_of, filters.suite
    own = gather(
        context, [name], with_imports=with_imports, note=note, archived=archived,
        basis=filters.basis,
    )[name]  # fmt: skip
    slugs = suite_slugs(context, suite, archived=archived, as_of=as_of)
    info = competition_info(context, slugs or own.competitions, as_of)
    disclosed = disclosures(context, [name], filters).get(name, {})
    with context.database.read() as session:
        (record,) = as_they_were(session, [record], as_of)
        withdrawn = amendments.withdrawn(session, as_of=as_of).get(name, 0)
        regrades = in_force(session, filters.basis)
    hidden = archived_competitions(context, suite, [name], archived=archived, as_of=as_of)(name)

    def counted(by: ResultFilter) -> ResultContext:
        try:
            found = context_of(record, own, info, by, slugs, disclosed, regrades)
        except NoResults as refusal:
            raise NoResults(refusal.detail + archived_note(hidden)) from None
        freeze = freezes_of(context, [record], by.padding, as_of).get(name)
        return replace(found, withdrawn=withdrawn, freeze=freeze, archived_competitions=hidden)

    return counted, info


def context_of(
    record: ExperimentRecord,
    own: ExperimentResults,
    info: Mapping[str, CompetitionInfo],
    filters: ResultFilter,
    slugs: set[str] | None,
    disclosed: Mapping[str, int],
    regrades: Sequence[InForce] = (),
) -> ResultContext:
    """The counted attempts of one experiment whose results were gathered.

    `regrades` are those in force, at any competition.

    Raises:
        AttemptsMissing: results are missing and the padding does not allow it.
        LeaderboardsMissing: a competition has no medals to win.
        NoResults: no competition is left, or there is no attempt.
    """
    wanted = own.competitions if slugs is None else slugs
    unwanted = set(filters.exclude_flags)
    excluded = sorted(s for s in wanted if unwanted & {code for code, _ in info[s].flags})
    used = wanted - set(excluded) if filters.excluded is Excluded.DROP else wanted
    if wanted and not used:
        several = f"All {len(wanted)} competitions have"
        all_have = several if len(wanted) > 1 else "The competition has"
        flags = ", ".join(filters.exclude_flags)
        raise NoResults(f"{all_have} one of the excluded flags ({flags}), so none is left.")
    graded_by = own.graded_by | own.excluded_by if filters.ignores_reviews else own.graded_by
    refuse_without_board({slug: info[slug] for slug in used}, graded_by)
    with_excluded = own.attempts.copy()
    for each in own.excluded.values():
        if each is not None:
            with_excluded.append(each)
    reviewed = sorted(key for key in own.excluded if key[0] in used)
    has_board = not any(info[slug].boardless & own.excluded_by for slug in used)

    def grid_of(counted: Attempts) -> Grid:
        return make_grid(
            counted, used, seeds=own.seeds_at(sorted(used)), padding=filters.padding,
            excused=reviewed, failed_at=excluded if filters.excluded is Excluded.FAIL else (),
        )  # fmt: skip

    try:
        grid = grid_of(with_excluded if filters.ignores_reviews else own.attempts)
    except AttemptsMissing as refusal:
        for each in refusal.extensions["missing"]:
            each["reason"] = own.pending.get((each["competition"], each["seed"]), "no run")
        raise
    then = means_in_percent(grid_of(with_excluded).shares) if reviewed and has_board else ()
    return ResultContext(
        experiment=record,
        filters=filters,
        grid=grid,
        missing=tuple((s, n, own.pending.get((s, n), "no run")) for s, n in grid.missing),
        flags=tuple((s, *flag) for s in grid.competitions for flag in info[s].flags),
        excluded=tuple(excluded),
        outside=sum(slug not in wanted for slug in own.attempts.competitions),
        open=grid.results_among({key for key in own.open if key[0] not in excluded}),
        imported=own.imported,
        policies=own.policies,
        failures=own.failures,
        disclosed=disclosed,
        regrades=tuple(one for one in regrades if one.competition in grid.competitions),
        reviewed=tuple(reviewed),
        with_excluded=dict(zip(RATES, then, strict=True)) if then else None,
    )


def as_they_were(
    session: Session, records: Sequence[ExperimentRecord], as_of: datetime | None
) -> list[ExperimentRecord]:
    """The experiments with the fields that they had at a time, before they were amended."""
    if as_of is None:
        return list(records)
    fields = amendments.fields_then(session, as_of)
    return [replace(one, **fields.get(one.name, {})) for one in records]


def disclosures(
    context: Context, names: list[str] | None, filters: ResultFilter
) -> dict[str, dict[str, int]]:
    """The number of disclosures to runs' keys, by experiment and kind."""
    archived, as_of = filters.archived, filters.basis.as_of
    with context.database.read() as session:
        return exposure.by_experiment(session, names, archived=archived, as_of=as_of)
