"""Several experiments over the same competitions, before any statistic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from app.domain.wording import first_few
from app.errors import Conflict, Invalid, NoResults, NotFound
from app.services.public_log.freezes import freezes_of
from app.services.results.inputs.attempts import ExperimentResults, gather
from app.services.results.inputs.competition_info import CompetitionInfo, competition_info
from app.services.results.inputs.kept_results import Gathered, disclosures_of_all, gather_many
from app.services.results.inputs.scope import (
    ResultContext,
    ResultFilter,
    as_they_were,
    context_of,
    disclosures,
    refuse_unknown_flags,
)
from app.services.runtime.archival import archived_competitions, archived_note, suite_slugs
from app.services.runtime.context import Context
from app.storage.database.records import ExperimentRecord
from app.storage.queries import amendments
from app.storage.queries import experiments as stored_experiments
from app.storage.queries.regrades.in_force import NOW, in_force

MOST_EXPERIMENTS = 100_000
CONTEXT_BYTES = 4_000
FEW_NAMED = 5  # the disclosures of up to so many are not cached
Absent = tuple[str, str]


class NoCommonCompetition(Conflict):
    """These experiments have no competition in common.

    A ranking needs the same competitions for all. `competitions` has the number of competitions of
    each experiment. Name a suite, or experiments that share competitions.
    """


@dataclass(frozen=True, slots=True)
class Several:
    """Experiments over the same competitions, before any statistic."""

    info: Mapping[str, CompetitionInfo]
    contexts: list[ResultContext]
    absent: list[Absent]


def several(
    context: Context, filters: ResultFilter, names: Sequence[str] = (), *, strict: bool = False
) -> Several:
    """The named experiments (none named: all with results), all over the same competitions.

    Without a suite these are the competitions that all of them have runs or results at. With
    `strict` an experiment that cannot be counted is an error; without, it is listed in `absent`.

    Raises:
        NotFound: a named experiment or the suite does not exist.
        Invalid: `names` are given, and none is among them.
        NoCommonCompetition: without a suite, no competition is common to all.
        Conflict: with `strict`, an experiment cannot be counted.
    """
    refuse_unknown_flags(context, filters)
    as_of = filters.basis.as_of
    records, named = _asked(context, filters, names, strict=strict)
    # Wait for the turn first: a snapshot occupies a connection, which the holder of the turn may
    # need.
    with context.kept.turn(), context.database.snapshot():
        if filters.basis == NOW:
            gathered = gather_many(context, named or None, archived=filters.archived)
        else:
            gathered = _gather_anew(context, named or None, filters)
        slugs = suite_slugs(context, filters.suite, archived=filters.archived, as_of=as_of)
        if slugs is None:
            slugs = _common({record.name: gathered[record.name].results for record in records
                             if record.name in gathered})  # fmt: skip
        info = competition_info(context, slugs, as_of)
        if filters.basis != NOW or (named and len(named) <= FEW_NAMED):
            disclosed = disclosures(context, named or None, filters)
        else:
            disclosed = disclosures_of_all(context, archived=filters.archived)
        freezes = freezes_of(context, records, filters.padding, as_of)
        with context.database.read() as session:
            withdrawn = amendments.withdrawn(session, as_of=as_of)
            regrades = in_force(session, filters.basis)
        hidden = archived_competitions(
            context, filters.suite, named or None, archived=filters.archived, as_of=as_of
        )
        found = Several(info, [], [])
        about = hash((frozenset(info.items()), filters))
        for record in records:
            own = gathered.get(record.name)
            if own is None or (not named and not slugs & own.results.competitions):
                continue
            one = _context(context, record, own, info, filters, slugs, about)
            if isinstance(one, ResultContext):
                shown = disclosed.get(record.name, {})
                gone = withdrawn.get(record.name, 0)
                known = set(one.grid.competitions)
                found.contexts.append(
                    replace(
                        one,
                        experiment=record,
                        disclosed=shown,
                        withdrawn=gone,
                        freeze=freezes.get(record.name),
                        regrades=tuple(each for each in regrades if each.competition in known),
                        archived_competitions=hidden(record.name),
                    )
                )
                continue
            why = one.detail
            if isinstance(one, NoResults):
                why += archived_note(hidden(record.name))
            if strict:
                raise type(one)(f"{record.name}: {why}", **one.extensions) from None
            found.absent.append((record.name, why))
    return found


def _asked(
    context: Context, filters: ResultFilter, names: Sequence[str], *, strict: bool
) -> tuple[list[ExperimentRecord], list[str]]:
    """The experiments of a query as they were at its time, and the names that it gives.

    Named ones are in the order of their names, all others by name. Experiments that were made later
    are left out; with `strict` they are an error.
    """
    as_of = filters.basis.as_of
    with context.database.read() as session:
        records = stored_experiments.list_page(
            session,
            archived=filters.archived or bool(names),
            limit=MOST_EXPERIMENTS,
            as_of=as_of,
        )
        records = as_they_were(session, records, as_of)
    named = _named(names, {record.name for record in records})
    if named:
        records = sorted(
            (record for record in records if record.name in named),
            key=lambda record: named.index(record.name),
        )
    if as_of is not None:
        later = [one.name for one in records if one.created_at > as_of]
        if strict and later:
            raise NoResults(f"The experiment {later[0]} was made after {as_of.isoformat()}.")
        records = [one for one in records if one.created_at <= as_of]
    return records, named


def _gather_anew(
    context: Context, names: Sequence[str] | None, filters: ResultFilter
) -> dict[str, Gathered]:
    """The results on another basis than the present one, which are not cached."""
    found = gather(context, names, archived=filters.archived, basis=filters.basis)
    return {name: Gathered(own, object()) for name, own in found.items()}


def _context(
    context: Context,
    record: ExperimentRecord,
    own: Gathered,
    info: Mapping[str, CompetitionInfo],
    filters: ResultFilter,
    slugs: set[str],
    about: Hashable,
) -> ResultContext | Conflict:
    """The counted attempts, or why there are none; kept while the results do not change."""
    key = ("context", record.name, filters, about)
    kept: ResultContext | Conflict | None = context.kept.get(key, own.version)
    if kept is None:
        try:
            kept = context_of(record, own.results, info, filters, slugs, {})
            size = CONTEXT_BYTES + kept.grid.outcomes.nbytes + 200 * len(kept.missing)
        except Conflict as refusal:
            kept, size = refusal, CONTEXT_BYTES + 300 * len(refusal.extensions.get("missing", ()))
        if filters.basis == NOW:  # nobody asks for the version of another basis again
            context.kept.put(key, own.version, kept, size)
    return kept


def _named(names: Sequence[str], known: set[str]) -> list[str]:
    """The experiments of a query: each value is a name, or several with commas between them."""
    found: list[str] = []
    for value in names:
        parts = [value] if value in known else [part for part in value.split(",") if part]
        for part in parts:
            if part not in known:
                raise NotFound(f"There is no experiment {part!r}.")
        found += parts
    if names and not found:
        raise Invalid("experiments: it names none.")
    return list(dict.fromkeys(found))


def _common(gathered: Mapping[str, ExperimentResults]) -> set[str]:
    """The competitions of all these experiments."""
    sets = {name: own.competitions for name, own in gathered.items() if own.competitions}
    if not sets:
        return set()
    common = set.intersection(*sets.values())
    if common:
        return common
    counts = Counter(slug for slugs in sets.values() for slug in slugs)
    rarest = sorted(sets, key=lambda name: max(counts[slug] for slug in sets[name]))
    raise NoCommonCompetition(
        f"These {len(sets)} experiments have no competition in common, so they cannot be ranked "
        f"or compared: {first_few(rarest, 5)}. Name a suite, or experiments that share "
        "competitions (experiments=A,B).",
        competitions={name: len(slugs) for name, slugs in sorted(sets.items())},
    )
