"""Grading reports of MLE-bench: taken in as attempts of an experiment, and given out again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.orm import Session

from app.domain.medals import Medal
from app.errors import Conflict, NotFound
from app.importers.grading_report import (
    THRESHOLDS,
    TOTALS,
    Mismatch,
    ReportEntry,
    flags_of,
    read_report,
)
from app.services.experiments import experiments
from app.services.results.attempts import attempt_of_run
from app.services.runtime.context import Context
from app.statistics.attempts import Attempt
from app.storage.database.records import ImportedGradeRecord
from app.storage.queries import competitions, imported_grades, results
from app.storage.queries import experiments as stored_experiments
from app.storage.queries.results import RunResult

PLACES = 5  # what MLE-bench rounds scores to; here and nowhere else


@dataclass(frozen=True, slots=True)
class ReportSource:
    """One file to take in: its bytes, and the run group it is of, if any."""

    data: bytes
    group: str = ""


@dataclass(frozen=True, slots=True)
class ImportedReports:
    """What came of an import. `unchanged` entries had been imported before."""

    imported: int
    unchanged: int
    seeds: tuple[int, ...]
    mismatches: tuple[Mismatch, ...]


def import_reports(
    context: Context, experiment: str, sources: Sequence[ReportSource], *, seed: int, repeats: bool
) -> ImportedReports:
    """Import reports as attempts of the experiment; all of them, or none.

    Every entry is of `seed`. With `repeats`, a competition that comes again has the next seed:
    entries are counted by run group, then by their own `created_at`, then as the file has them.

    Raises:
        NotFound: no such experiment.
        BadReport: a file is not a report.
        Conflict: a competition comes twice for a seed, or has another result there already.
    """
    experiments.find(context, experiment)
    mismatches: list[Mismatch] = []
    entries: list[tuple[str, ReportEntry]] = []
    for source in sources:
        report = read_report(source.data)
        mismatches += report.mismatches
        entries += [(source.group, entry) for entry in report.entries]
    keyed = _with_seeds(entries, seed, repeats=repeats)
    mismatches += _against_competitions(context, [entry for _, entry, _ in keyed])
    now = datetime.now(UTC)
    records = [_record(experiment, one, group, entry, now) for group, entry, one in keyed]

    def record(session: Session) -> int:
        known = {
            (each.competition, each.seed): each
            for each in imported_grades.of_experiment(session, experiment)
        }
        runs = imported_grades.run_keys(session, experiment)
        fresh = []
        for new in records:
            key = (new.competition, new.seed)
            if key in runs or (key in known and known[key].document != new.document):
                what = "run" if key in runs else "imported result"
                raise Conflict(
                    f"The experiment {experiment!r} has another {what} of seed {new.seed} at "
                    f"{new.competition}. Nothing was imported; choose another seed or experiment."
                )
            if key not in known:
                fresh.append(new)
        imported_grades.add(session, fresh)
        return len(fresh)

    added = context.database.write(record)
    seeds = tuple(sorted({each.seed for each in records}))
    return ImportedReports(added, len(records) - added, seeds, tuple(mismatches))


def export_report(context: Context, experiment: str, seed: int) -> dict[str, Any]:
    """The experiment's attempts of one seed as a grading report of MLE-bench.

    Scores are rounded as MLE-bench does; medals come from unrounded ones. A run whose result is
    not there yet is left out.

    Raises:
        NotFound: no such experiment, or none of its results have this seed.
    """
    experiments.find(context, experiment)
    with context.database.read() as session:
        imported = imported_grades.of_experiment(session, experiment, seed)
        runs = list(results.run_results(session, experiments=[experiment]))
    entries = [_imported_entry(each) for each in imported]
    for run in sorted(runs, key=lambda each: each.competition):
        attempt = attempt_of_run(run)
        if run.seed == seed and isinstance(attempt, Attempt):
            entries.append(_run_entry(context, run, attempt))
    if not entries:
        raise NotFound(f"The experiment {experiment!r} has no results of seed {seed}.")
    totals = {name: sum(_counts(name, entry) for entry in entries) for name in TOTALS}
    return {**totals, "competition_reports": entries}


def create_if_new(context: Context, name: str) -> None:
    """An experiment to import into, where none has that name."""
    with context.database.read() as session:
        known = stored_experiments.get(session, name)
    if known is None:
        new = experiments.NewExperiment(name, name, NOT_TOLD, "imported from MLE-bench", None)
        experiments.create(context, new)


NOT_TOLD = "not told"


def _with_seeds(
    entries: list[tuple[str, ReportEntry]], first: int, *, repeats: bool
) -> list[tuple[str, ReportEntry, int]]:
    def moment(pair: tuple[str, ReportEntry]) -> tuple[str, str]:
        return pair[0], str(pair[1].document.get("created_at") or "")

    seen: dict[str, int] = {}
    places: dict[str, str] = {}
    keyed = []
    for group, entry in sorted(entries, key=moment) if repeats else entries:
        seed = first + seen.get(entry.competition, 0)
        if seed != first and not repeats:
            raise Conflict(
                f"{entry.competition} comes twice in the report, at {places[entry.competition]} "
                f"and at {entry.place}. With repeats=seeds a repeated competition has the next "
                "seed."
            )
        seen[entry.competition] = seen.get(entry.competition, 0) + 1
        places.setdefault(entry.competition, entry.place)
        keyed.append((group, entry, seed))
    return keyed


def _against_competitions(context: Context, entries: Sequence[ReportEntry]) -> list[Mismatch]:
    """Where the report's lines and direction are not those of the competitions known here."""
    slugs = {entry.competition for entry in entries}
    with context.database.read() as session:
        versions = competitions.list_current(session, slugs=slugs, limit=len(slugs))
    boards = {each.slug: context.catalogue.entry(each).leaderboard for each in versions}
    note = "the competition here has another one; the report's decided"
    found = []
    for entry in entries:
        board = boards.get(entry.competition)
        if board is None:
            continue
        if entry.higher_is_better not in (None, board.higher_is_better):
            lower = not board.higher_is_better
            found.append(
                Mismatch(
                    f"{entry.place}.is_lower_better", entry.competition, "is_lower_better",
                    not entry.higher_is_better, lower, note,
                )
            )  # fmt: skip
        for name in THRESHOLDS if entry.lines else ():
            theirs, ours = getattr(entry.lines, name), getattr(board.lines, name)
            if ours is not None and not math.isclose(theirs, ours, rel_tol=1e-9, abs_tol=1e-12):
                field = f"{name}_threshold"
                found.append(
                    Mismatch(f"{entry.place}.{field}", entry.competition, field, theirs, ours, note)
                )
    return found


def _record(
    experiment: str, seed: int, group: str, entry: ReportEntry, now: datetime
) -> ImportedGradeRecord:
    return ImportedGradeRecord(
        experiment=experiment,
        competition=entry.competition,
        seed=seed,
        made=entry.made,
        valid=entry.valid,
        score=entry.score,
        medal=None if entry.medal is None else entry.medal.value,
        above_median=entry.above_median,
        source=group.replace("\x00", ""),
        document=entry.document,
        imported_at=now,
    )


def _imported_entry(one: ImportedGradeRecord) -> dict[str, Any]:
    medal = None if one.medal is None else Medal(one.medal)
    score = None if one.score is None else round(one.score, PLACES)
    ours = flags_of(one.made, one.valid, medal, one.above_median)
    return {**one.document, "score": score, **ours}


def _run_entry(context: Context, run: RunResult, attempt: Attempt) -> dict[str, Any]:
    board = context.catalogue.of_version(run.version_id).leaderboard
    score = run.score if attempt.valid else None
    lines = {
        f"{name}_threshold": getattr(board.lines, name) if board else None for name in THRESHOLDS
    }
    return {
        "competition_id": run.competition,
        "score": None if score is None else round(score, PLACES),
        **lines,
        **flags_of(attempt.made, attempt.valid, attempt.medal, attempt.above_median),
        "is_lower_better": not board.higher_is_better if board else None,
        "created_at": datetime.now(UTC).replace(tzinfo=None).isoformat(),
        "submission_path": f"runs/{run.run}/submissions/{run.final}" if run.final else None,
    }


def _counts(total: str, entry: dict[str, Any]) -> bool:
    field = {
        "total_runs_with_submissions": "submission_exists",
        "total_valid_submissions": "valid_submission",
        "total_medals": "any_medal",
        "total_gold_medals": "gold_medal",
        "total_silver_medals": "silver_medal",
        "total_bronze_medals": "bronze_medal",
        "total_above_median": "above_median",
    }.get(total)
    return True if field is None else bool(entry[field])
