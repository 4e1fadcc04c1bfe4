"""MLE-bench's experiments: several run groups are one experiment's seeds."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from app.errors import NotFound
from app.importers.run_groups import read_run_groups
from app.services.results.grading_reports import (
    ImportedReports,
    ReportSource,
    create_if_new,
    import_reports,
)
from app.services.runtime.context import Context

REPORTS = "*grading_report.json"  # hourly ones have a number behind


@dataclass(frozen=True, slots=True)
class ImportedExperiment:
    """What was imported for one experiment; `problems` names groups and files left out, and why."""

    experiment: str
    groups: int
    problems: tuple[str, ...]
    taken: ImportedReports | None


def import_groups(
    context: Context, table: Path, runs: Path, only: Collection[str] = ()
) -> list[ImportedExperiment]:
    """Import the experiments of a `run_group_experiments.csv` from the groups below `runs`.

    Groups are taken in the order of their names, which begin with their time; the i-th result of a
    competition is of seed i. Of several reports of a group the last by name counts: later ones
    are gradings anew.

    Raises:
        NotFound: an experiment of `only` is not in the table.
        Invalid, BadReport, Conflict: as the readers of these files say; what was imported before
            stays, and is unchanged when the command is given again.
    """
    groups = read_run_groups(table.read_bytes())
    unknown = sorted(set(only) - set(groups))
    if unknown:
        raise NotFound(f"{table.name} has no experiment {unknown[0]!r}.")
    found = []
    for name, members in groups.items():
        if only and name not in only:
            continue
        sources, problems = _sources(runs, members)
        taken = None
        if sources:
            create_if_new(context, name)
            taken = import_reports(context, name, sources, seed=0, repeats=True)
        found.append(ImportedExperiment(name, len(members), tuple(problems), taken))
    return found


def _sources(runs: Path, groups: list[str]) -> tuple[list[ReportSource], list[str]]:
    sources: list[ReportSource] = []
    problems = []
    for group in groups:
        directory = runs / group
        if directory.resolve().parent != runs.resolve():
            problems.append(f"{group}: this is not the name of a directory")
            continue
        files = sorted(directory.glob(REPORTS))
        if not files:
            problems.append(f"{group}: there is no {REPORTS} in {directory}")
            continue
        problems += [f"{group}: {file.name} is not counted, a later one is" for file in files[:-1]]
        sources.append(ReportSource(files[-1].read_bytes(), group))
    return sources, problems
