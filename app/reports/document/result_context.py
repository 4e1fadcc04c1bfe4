"""The context that every report of experiments gives with its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC
from typing import Any

from app.domain.result_choices import Excluded, Padding
from app.domain.wording import are, counted, first_few
from app.reports.document.page import Marked
from app.services.results.inputs.scope import ResultContext, ResultFilter
from app.storage.database.records import DISCLOSURE_KINDS, HARNESS, HARNESS_KINDS
from app.storage.queries.regrades.in_force import InForce

SHOWN = 5  # departures from a freeze, in a line


def context_document(context: ResultContext) -> dict[str, Any]:
    """The choices and the runs behind the numbers, for JSON."""
    disclosed = context.disclosed
    freeze = context.freeze
    frozen = freeze and {"receipt": freeze.receipt.id, "departures": list(freeze.departures)}
    return {
        "experiment": context.experiment.name,
        "agent": context.experiment.agent,
        "model": context.experiment.model,
        "suite": context.filters.suite,
        "padding": context.filters.padding.value,
        "exclude_flags": list(context.filters.exclude_flags),
        "excluded_as": context.filters.excluded.value,
        "excluded": list(context.excluded),
        "archived": context.filters.archived,
        "as_of": context.filters.basis.as_of,
        "regrades": [asdict(one) for one in context.regrades],
        "reviews": context.filters.reviews.value,
        "excluded_runs": [{"competition": slug, "seed": seed} for slug, seed in context.reviewed],
        "with_excluded": context.with_excluded,
        "seeds": len(context.grid.seeds),
        "seed_numbers": list(context.grid.seeds),
        "competitions": len(context.grid.competitions),
        "missing": [
            {"competition": slug, "seed": seed, "reason": reason}
            for slug, seed, reason in context.missing
        ],
        "outside_suite": context.outside,
        "open_runs": context.open,
        "imported": context.imported,
        "withdrawn": context.withdrawn,
        **({"freeze": frozen} if frozen else {}),
        # Sorted, for a database may give the same runs in another order.
        "failures": dict(sorted(context.failures.items())),
        "exposure": {
            "policies": dict(sorted(context.policies.items())),
            "totals": {f"{kind}s": disclosed.get(kind, 0) for kind in DISCLOSURE_KINDS},
            "harness_totals": {
                f"{kind}s": disclosed.get(f"{HARNESS}{kind}", 0) for kind in DISCLOSURE_KINDS
            },
            "unknown": context.imported,
        },
        "flags": [
            {"competition": slug, "code": code, "note": note} for slug, code, note in context.flags
        ],
        "archived_competitions": list(context.archived_competitions),
    }


CONTEXT = (
    "missing", "policies", "validations", "search_scores", "public_scores", "private_scores",
    "failures_shown", "harness_validations", "harness_private_scores", "harness_failures_shown",
    "exposure_unknown", "flags", "excluded", "regrades", "excluded_runs",
    "any_medal_with_excluded", "archived_competitions",
)  # fmt: skip


def context_columns(context: ResultContext) -> dict[str, Any]:
    """The context for flat rows, in brief: exposure, and flags joined by commas."""
    disclosed = context.disclosed
    return {
        "missing": len(context.missing),
        "policies": ",".join(sorted(context.policies)),
        "validations": disclosed.get("validation", 0),
        "search_scores": disclosed.get("search_score", 0),
        "public_scores": disclosed.get("public_score", 0),
        "private_scores": disclosed.get("private_score", 0),
        "failures_shown": disclosed.get("failure", 0),
        "harness_validations": disclosed.get(f"{HARNESS}validation", 0),
        "harness_private_scores": disclosed.get(f"{HARNESS}private_score", 0),
        "harness_failures_shown": disclosed.get(f"{HARNESS}failure", 0),
        "exposure_unknown": context.imported,
        "flags": ",".join(sorted({code for _, code, _ in context.flags})),
        "excluded": ",".join(context.excluded),
        "regrades": ",".join(one.id for one in context.regrades),
        "excluded_runs": len(context.reviewed),
        "any_medal_with_excluded": (context.with_excluded or {}).get("any_medal"),
        "archived_competitions": ",".join(context.archived_competitions),
    }


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
    """A cell, with a footnote where results are missing: it must not look measured."""
    return Marked(text, (missing_note(missing, padding),)) if missing else text


def marked_mean(context: ResultContext, mean: float) -> str | Marked:
    """A number over all competitions of an experiment, marked where results are missing."""
    return marked(f"{mean:.2f}", len(context.missing), context.filters.padding)


def marks_of(*contexts: ResultContext) -> Callable[[str], str | Marked]:
    """Marks cells that rest on all these experiments, with the footnote of each that needs one."""
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
    """The time for which was asked, in a line; none for now."""
    at = context.filters.basis.as_of
    return [] if at is None else [f"As it was on {at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC."]


def own_notes(context: ResultContext) -> list[str]:
    """The footnotes without the time and the flags, which several experiments share."""
    scope, totals = context.filters, context.disclosed
    where = f"suite {scope.suite}" if scope.suite else "its competitions"
    count, seeds = len(context.grid.competitions), len(context.grid.seeds)
    about = f"{where}, {counted(count, 'competition')}, {counted(seeds, 'seed')}"
    lines = [f"{context.experiment.name}: {about}."]
    if len(context.grid.seeds) == 1:
        lines.append("One seed: the spread between seeds is not known.")
    if context.missing:
        lines.append(f"{missing_note(len(context.missing), scope.padding)}.")
    if context.outside:
        what = "suite" if scope.suite else "competitions shown"
        outside, do = counted(context.outside, "result"), "does" if context.outside == 1 else "do"
        lines.append(f"{outside} at competitions outside the {what} {do} not count.")
    lines += exclusion_notes(scope, context.excluded, context.archived_competitions)
    if context.open:
        whose = "its" if context.open == 1 else "their"
        lines.append(
            f"{are(context.open, 'run')} still open: {whose} last valid submission counts."
        )
    if context.policies:
        searched = totals.get("search_score", 0)
        policies = ", ".join(f"{count} {name}" for name, count in sorted(context.policies.items()))
        lines.append(
            f"Feedback: {policies}. Told to the agents: "
            f"{counted(totals.get('validation', 0), 'validation')}, "
            + (f"{counted(searched, 'search score')}, " if searched else "")
            + f"{counted(totals.get('public_score', 0), 'public score')}, "
            f"{counted(totals.get('private_score', 0), 'private score')}{_failures(totals, '')}."
        )
    if any(totals.get(kind) for kind in HARNESS_KINDS):
        lines.append(
            f"Told to harnesses: {counted(totals.get(f'{HARNESS}validation', 0), 'validation')}, "
            f"{counted(totals.get(f'{HARNESS}private_score', 0), 'private score')}"
            f"{_failures(totals, HARNESS)}. Whether a harness passes them on to its agent, Podium "
            "cannot see."
        )
    if context.failures:
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(context.failures.items()))
        lines.append(f"Failures of runs: {counts}.")
    if context.imported:
        lines.append(
            f"{counted(context.imported, 'imported result')}: what those agents were told is "
            "unknown."
        )
    if context.withdrawn:
        were = "was" if context.withdrawn == 1 else "were"
        lines.append(
            f"{counted(context.withdrawn, 'imported result')} {were} withdrawn by an admin: the "
            "experiment's amendments have them and the reasons."
        )
    if context.freeze:
        departures = first_few([one["text"] for one in context.freeze.departures], SHOWN, "; ")
        lines.append(
            f"Frozen before the first run (receipt {context.freeze.receipt.id}): "
            f"{departures or 'nothing departs from it'}."
        )
    if context.with_excluded is not None:
        runs, rate = counted(len(context.reviewed), "run"), context.with_excluded["any_medal"]
        lines.append(
            f"Reviews exclude {runs}, counted all the same (reviews=ignore)."
            if scope.ignores_reviews
            else f"Reviews exclude {runs}; with them any medal would be {rate:.2f} %."
        )
    lines += [regrade_note(one) for one in context.regrades]
    return lines


def _failures(totals: Mapping[str, int], prefix: str) -> str:
    failed = totals.get(f"{prefix}failure", 0)
    return f", {counted(failed, 'failure')} of grading" if failed else ""


def regrade_note(one: InForce) -> str:
    """The footnote for a competition whose grades rest on a regrade.

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
    """A line for each code, with its competitions, of (competition, code, note) flags.

    >>> flag_notes([("a", "leaky", "..."), ("b", "leaky", "...")])
    ['Flag leaky: a, b.']
    """
    codes: dict[str, list[str]] = {}
    for slug, code, _ in flags:
        codes.setdefault(code, []).append(slug)
    return [f"Flag {code}: {', '.join(slugs)}." for code, slugs in sorted(codes.items())]
