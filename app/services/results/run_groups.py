"""Import MLE-bench's experiments: an experiment's run groups become its seeds."""

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

REPORTS = "*grading_report.json"  # hourly reports have a number at the end


@dataclass(frozen=True, slots=True)
class ImportedExperiment:
    """The result for one experiment. `problems` gives the reason for each skipped group or file."""

    experiment: str
    groups: int
    problems: tuple[str, ...]
    reports: ImportedReports | None


def import_groups(
    context: Context, table: Path, runs: Path, only: Collection[str] = ()
) -> list[ImportedExperiment]:
    """Import the experiments of a `run_group_experiments.csv` from the groups below `runs`.

    Groups are imported in the order of their names, which begin with their time; the i-th result
    of a competition gets seed i. If a group has several reports, only the last by name counts,
    because later reports are new gradings.

    Raises:
        NotFound: an experiment of `only` is not in the table.
        Invalid, BadReport, Conflict: a file cannot be imported. Experiments before it stay
            imported; a repeated call leaves them unchanged.
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
        reports = None
        if sources:
            create_if_new(context, name)
            reports = import_reports(context, name, sources, seed=0, repeats=True)
        found.append(ImportedExperiment(name, len(members), tuple(problems), reports))
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
        problems += [f"{group}: {file.name} is skipped for a later report" for file in files[:-1]]
        sources.append(ReportSource(files[-1].read_bytes(), group))
    return sources, problems
