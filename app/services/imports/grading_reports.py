"""Import MLE-bench's grading reports as attempts of an experiment."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy.orm import Session

from app.domain.states import LARGEST_SEED, LEAST_SEED
from app.errors import Conflict, Invalid
from app.importers.grading_report import (
    THRESHOLDS,
    BadReport,
    Mismatch,
    ReportEntry,
    read_report,
)
from app.services.experiments import experiments
from app.services.runtime.context import Context
from app.storage.queries import competitions
from app.storage.queries import experiments as stored_experiments
from app.storage.queries.elsewhere import imported_grades
from app.storage.queries.elsewhere.imported_grades import ImportedGradeRecord


@dataclass(frozen=True, slots=True)
class ReportSource:
    """One file to import: its bytes, and its run group, if any."""

    data: bytes
    group: str = ""


@dataclass(frozen=True, slots=True)
class ImportedReports:
    """The result of an import. `unchanged` is the number of entries that were imported before."""

    imported: int
    unchanged: int
    seeds: tuple[int, ...]
    mismatches: tuple[Mismatch, ...]


def import_reports(
    context: Context,
    experiment: str,
    sources: Sequence[ReportSource],
    *,
    seed: int,
    repeats: bool,
    create: bool = False,
) -> ImportedReports:
    """Import reports as attempts of the experiment, either all of them or none.

    Every entry gets `seed`. With `repeats`, a repeated competition gets the next seed: entries are
    sorted by run group, then by `created_at`, then by their order in the file. With `create`, a
    missing experiment is created, unless the reports are refused.

    Raises:
        NotFound: the experiment does not exist.
        Invalid: no experiment can have this name, or no run one of these seeds.
        BadReport: a file is not a report, or names a competition that nobody knows.
        Conflict: a competition is repeated for a seed, or has another result for that seed.
    """
    if not create:
        experiments.find(context, experiment)
    mismatches: list[Mismatch] = []
    entries: list[tuple[str, ReportEntry]] = []
    for source in sources:
        report = read_report(source.data)
        mismatches += report.mismatches
        entries += [(source.group, entry) for entry in report.entries]
    refuse_unknown(context, [entry for _, entry in entries])
    keyed = _with_seeds(entries, seed, repeats=repeats)
    refuse_seeds(one for _, _, one in keyed)
    mismatches += mismatches_with_boards(context, [entry for _, entry, _ in keyed])
    if create:
        create_if_new(context, experiment)
    now = datetime.now(UTC)
    records = [_record(experiment, one, group, entry, now) for group, entry, one in keyed]

    def record(session: Session) -> int:
        # Locked against other changes of its results, and against a freeze.
        stored_experiments.lock(session, experiment)
        known = {
            (each.competition, each.seed): each
            for each in imported_grades.of_experiment(session, experiment)
        }
        runs = imported_grades.run_keys(session, experiment)
        new_records = []
        for new in records:
            key = (new.competition, new.seed)
            if key in runs or (key in known and known[key].document != new.document):
                what = "run" if key in runs else "imported result"
                raise Conflict(
                    f"The experiment {experiment!r} has another {what} of seed {new.seed} at "
                    f"{new.competition}. Nothing was imported; choose another seed or experiment."
                )
            if key not in known:
                new_records.append(new)
        imported_grades.add(session, new_records)
        return len(new_records)

    added = context.database.write(record)
    seeds = tuple(sorted({each.seed for each in records}))
    return ImportedReports(added, len(records) - added, seeds, tuple(mismatches))


def create_if_new(context: Context, name: str) -> None:
    """Create an experiment for an import, unless one has this name."""
    with context.database.read() as session:
        known = stored_experiments.get(session, name)
    if known is None:
        new = experiments.NewExperiment(name, name, UNKNOWN_MODEL, "imported from MLE-bench", None)
        experiments.create(context, new)


UNKNOWN_MODEL = "not told"


def refuse_seeds(seeds: Iterable[int]) -> None:
    """Refuse seeds that no run can have.

    Raises:
        Invalid: with the first of them.
    """
    for seed in seeds:
        if not LEAST_SEED <= seed <= LARGEST_SEED:
            raise Invalid(
                f"seed: a result would have the seed {seed}; seeds are from {LEAST_SEED} to "
                f"{LARGEST_SEED}. Nothing was imported; choose another first seed."
            )


def _with_seeds(
    entries: list[tuple[str, ReportEntry]], first: int, *, repeats: bool
) -> list[tuple[str, ReportEntry, int]]:
    def creation_time(pair: tuple[str, ReportEntry]) -> tuple[str, str]:
        return pair[0], str(pair[1].document.get("created_at") or "")

    seen: dict[str, int] = {}
    first_places: dict[str, str] = {}
    keyed = []
    for group, entry in sorted(entries, key=creation_time) if repeats else entries:
        seed = first + seen.get(entry.competition, 0)
        if seed != first and not repeats:
            raise Conflict(
                f"{entry.competition} comes twice in the report, at "
                f"{first_places[entry.competition]} and at {entry.place}. With repeats=seeds a "
                "repeated competition has the next seed."
            )
        seen[entry.competition] = seen.get(entry.competition, 0) + 1
        first_places.setdefault(entry.competition, entry.place)
        keyed.append((group, entry, seed))
    return keyed


def refuse_unknown(context: Context, entries: Sequence[ReportEntry]) -> None:
    """Refuse a competition that is neither imported nor in a suite. It is most often a typo.

    Raises:
        BadReport: with the place of the entry.
    """
    slugs = {entry.competition for entry in entries}
    known = set().union(*context.catalogue.suites().values())
    if slugs <= known:
        return
    with context.database.read() as session:
        versions = competitions.list_current(session, limit=None)
    known |= {version.slug for version in versions}
    for entry in entries:
        if entry.competition not in known:
            near = difflib.get_close_matches(entry.competition, sorted(known), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            reason = f"{entry.competition!r} is not imported, and no suite lists it{hint}"
            place = f"{entry.place}.competition_id"
            text = f"The grading report is refused at {place}: {reason}{'' if near else '.'}"
            raise BadReport(text, place=place, reason=reason)


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


def mismatches_with_boards(context: Context, entries: Sequence[ReportEntry]) -> list[Mismatch]:
    """The differences between the report's thresholds and directions and Podium's."""
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
            theirs, expected = getattr(entry.lines, name), getattr(board.lines, name)
            if expected is not None and not math.isclose(
                theirs, expected, rel_tol=1e-9, abs_tol=1e-12
            ):
                field = f"{name}_threshold"
                found.append(
                    Mismatch(
                        f"{entry.place}.{field}", entry.competition, field, theirs, expected, note
                    )
                )
    return found
