"""Footnotes of reports: the data behind the numbers of experiments, and marks of cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC

from app.domain.result_choices import Excluded, Padding
from app.domain.wording import are, counted, first_few
from app.reports.document.page import Marked
from app.services.results.inputs.scope import ResultContext, ResultFilter
from app.storage.database.records import HARNESS, HARNESS_KINDS
from app.storage.queries.regrades.in_force import InForce

SHOWN = 5  # departures from a freeze, in a line
EFFECTS = {
    "fail": "count as failures",
    "complete": "leave their seed out",
    "available": "are left out: each competition counts with the results that it has",
    "none": "are listed",
}


def missing_note(count: int, padding: Padding) -> str:
    """How many results are missing, and how they count.

    >>> missing_note(2, Padding.FAIL)
    '2 missing results count as failures (padding=fail)'
    >>> missing_note(1, Padding.FAIL)
    '1 missing: such results count as failures (padding=fail)'
    """
    noun = "missing results" if count > 1 else "missing: such results"
    return f"{count} {noun} {EFFECTS[padding.value]} (padding={padding})"


def marked(text: str, missing: int, padding: Padding) -> str | Marked:
    """A cell, with a footnote if results are missing, because it must not look measured."""
    return Marked(text, (missing_note(missing, padding),)) if missing else text


def marked_mean(context: ResultContext, mean: float) -> str | Marked:
    """A number over all competitions of an experiment, marked if results are missing."""
    return marked(f"{mean:.2f}", len(context.missing), context.filters.padding)


def marks_of(*contexts: ResultContext) -> Callable[[str], str | Marked]:
    """Marks cells that are computed from all these experiments, with the footnotes of each."""
    notes = tuple(
        dict.fromkeys(
            missing_note(len(one.missing), one.filters.padding) for one in contexts if one.missing
        )
    )
    return lambda text: Marked(text, notes) if notes else text


def shared_notes(contexts: Sequence[ResultContext]) -> list[str]:
    """The footnotes of several experiments: a note of several experiments appears once."""
    names: dict[str, list[str]] = {}
    for one in contexts:
        name = one.experiment.name
        names.setdefault(" ".join(own_notes(one)).removeprefix(f"{name}: "), []).append(name)
    notes = [f"{', '.join(having)}: {note}" for note, having in names.items()]
    times = dict.fromkeys(note for one in contexts for note in time_notes(one))
    flags = dict.fromkeys(flag for one in contexts for flag in one.flags)
    return [*notes, *times, *flag_notes(flags)]


def footnotes(context: ResultContext) -> list[str]:
    """Footnotes for readers of the numbers of one experiment, one line each."""
    return [*own_notes(context), *time_notes(context), *flag_notes(context.flags)]


def time_notes(context: ResultContext) -> list[str]:
    """A line with the requested time; none for the present time."""
    at = context.filters.basis.as_of
    return [] if at is None else [f"As it was on {at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC."]


def own_notes(context: ResultContext) -> list[str]:
    """The footnotes without the time and the flags, which several experiments share."""
    scope = context.filters
    return [
        *_about_the_grid(context),
        *exclusion_notes(scope, context.excluded, context.archived_competitions),
        *_about_runs(context),
        *_about_imports(context),
        *_about_decisions(context),
        *(regrade_note(one) for one in context.regrades),
    ]


def _about_the_grid(context: ResultContext) -> Iterator[str]:
    """Competitions and seeds, and which results are missing or outside."""
    scope = context.filters
    where = f"suite {scope.suite}" if scope.suite else "its competitions"
    count, seeds = len(context.grid.competitions), len(context.grid.seeds)
    about = f"{where}, {counted(count, 'competition')}, {counted(seeds, 'seed')}"
    yield f"{context.experiment.name}: {about}."
    if seeds == 1:
        yield "One seed: the spread between seeds is not known."
    if context.missing:
        yield f"{missing_note(len(context.missing), scope.padding)}."
    if context.outside:
        what = "suite" if scope.suite else "competitions shown"
        outside, do = counted(context.outside, "result"), "does" if context.outside == 1 else "do"
        yield f"{outside} at competitions outside the {what} {do} not count."


def _about_runs(context: ResultContext) -> Iterator[str]:
    """Which runs are open, what agents and harnesses were shown, and why runs failed."""
    totals = context.disclosed
    if context.open:
        whose = "its" if context.open == 1 else "their"
        yield f"{are(context.open, 'run')} still open: {whose} last valid submission counts."
    if context.policies:
        searched = totals.get("search_score", 0)
        policies = ", ".join(f"{count} {name}" for name, count in sorted(context.policies.items()))
        yield (
            f"Feedback: {policies}. Told to the agents: "
            f"{counted(totals.get('validation', 0), 'validation')}, "
            + (f"{counted(searched, 'search score')}, " if searched else "")
            + f"{counted(totals.get('public_score', 0), 'public score')}, "
            f"{counted(totals.get('private_score', 0), 'private score')}{_failures(totals, '')}."
        )
    if any(totals.get(kind) for kind in HARNESS_KINDS):
        yield (
            f"Told to harnesses: {counted(totals.get(f'{HARNESS}validation', 0), 'validation')}, "
            f"{counted(totals.get(f'{HARNESS}private_score', 0), 'private score')}"
            f"{_failures(totals, HARNESS)}. Whether a harness passes them on to its agent, Podium "
            "cannot see."
        )
    if context.failures:
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(context.failures.items()))
        yield f"Failures of runs: {counts}."


def _failures(totals: Mapping[str, int], prefix: str) -> str:
    failed = totals.get(f"{prefix}failure", 0)
    return f", {counted(failed, 'failure')} of grading" if failed else ""


def _about_imports(context: ResultContext) -> Iterator[str]:
    if context.imported:
        imported = counted(context.imported, "imported result")
        yield f"{imported}: what those agents were told is unknown."
    if context.withdrawn:
        were = "was" if context.withdrawn == 1 else "were"
        yield (
            f"{counted(context.withdrawn, 'imported result')} {were} withdrawn by an admin: the "
            "experiment's amendments have them and the reasons."
        )


def _about_decisions(context: ResultContext) -> Iterator[str]:
    """Departures of the experiment from its plan, and runs that reviews exclude."""
    if context.freeze:
        departures = first_few([one["text"] for one in context.freeze.departures], SHOWN, "; ")
        yield (
            f"Frozen before the first run (receipt {context.freeze.receipt.id}): "
            f"{departures or 'nothing departs from it'}."
        )
    if context.with_excluded is not None:
        runs, rate = counted(len(context.reviewed), "run"), context.with_excluded["any_medal"]
        yield (
            f"Reviews exclude {runs}, counted all the same (reviews=ignore)."
            if context.filters.ignores_reviews
            else f"Reviews exclude {runs}; with them any medal would be {rate:.2f} %."
        )


def regrade_note(one: InForce) -> str:
    """The footnote for a competition whose grades are from a regrade.

    >>> regrade_note(InForce("rgr_1", "titanic", 2, None))
    'titanic: all submissions were graded anew under version 2, regrade rgr_1 that is not applied.'
    """
    under = "under their runs' versions" if one.version is None else f"under version {one.version}"
    when = f"of {one.applied_at:%Y-%m-%d}" if one.applied_at else "that is not applied"
    return f"{one.competition}: all submissions were graded anew {under}, regrade {one.id} {when}."


def exclusion_notes(
    filters: ResultFilter, flagged: Sequence[str], archived: Sequence[str]
) -> list[str]:
    """A line for competitions with an excluded flag, and one for archived competitions."""
    lines = []
    if flagged:
        how = "left out" if filters.excluded is Excluded.DROP else "counted as failures"
        lines.append(f"Flagged {', '.join(filters.exclude_flags)}, {how}: {', '.join(flagged)}.")
    if archived:
        lines.append(f"Left out because they are archived: {', '.join(archived)}.")
    return lines


def flag_notes(flags: Iterable[tuple[str, str, str]]) -> list[str]:
    """A line for each code of the flags (competition, code, note), with its competitions.

    >>> flag_notes([("a", "leaky", "..."), ("b", "leaky", "...")])
    ['Flag leaky: a, b.']
    """
    codes: dict[str, list[str]] = {}
    for slug, code, _ in flags:
        codes.setdefault(code, []).append(slug)
    return [f"Flag {code}: {', '.join(slugs)}." for code, slugs in sorted(codes.items())]
