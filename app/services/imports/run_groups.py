"""Import MLE-bench's experiments: an experiment's run groups become its seeds."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from app.errors import Conflict, Invalid, NotFound
from app.importers.grading_report import BadReport, read_report
from app.importers.run_groups import read_run_groups
from app.services.imports.grading_reports import (
    ImportedReports,
    ReportSource,
    import_reports,
    refuse_unknown,
)
from app.services.runtime.context import Context

# The pattern of MLE-bench's own script. Hourly reports are in a folder of their own.
REPORTS = "*grading_report*.json"
UNNUMBERED = "grading_report.json"


@dataclass(frozen=True, slots=True)
class ImportedExperiment:
    """The result for one experiment.

    `problems` gives the reason for each skipped group or file; `reports` is None if nothing could
    be imported.
    """

    experiment: str
    groups: int
    problems: tuple[str, ...]
    reports: ImportedReports | None


def import_groups(
    context: Context, table: Path, runs: Path, only: Collection[str] = ()
) -> list[ImportedExperiment]:
    """Import the experiments of a `run_group_experiments.csv` from the groups below `runs`.

    Groups are imported in the order of their names, which begin with their time; the i-th result of
    a competition gets seed i. If a group has several reports, only the last by name counts, because
    later reports are new gradings; numbered ones count only if there is no other.

    A group is skipped, with a problem, if it has no readable report or names an unknown
    competition. So is an experiment with an invalid name, or with another result for the same seed.
    The other groups and experiments are imported.

    Raises:
        NotFound: an experiment of `only` is not in the table.
        Invalid: the table cannot be read.
    """
    groups = read_run_groups(table.read_bytes())
    unknown = sorted(set(only) - set(groups))
    if unknown:
        raise NotFound(f"{table.name} has no experiment {unknown[0]!r}.")
    found = []
    for name, members in groups.items():
        if only and name not in only:
            continue
        readable, problems = report_sources(runs, members)
        sources = _known(context, readable, problems)
        reports = None
        if sources:
            try:
                reports = import_reports(context, name, sources, seed=0, repeats=True, create=True)
            except (BadReport, Conflict, Invalid) as refusal:
                problems.append(refusal.detail)
        found.append(ImportedExperiment(name, len(members), tuple(problems), reports))
    return found


def _known(
    context: Context, sources: list[ReportSource], problems: list[str]
) -> list[ReportSource]:
    """The reports without an unknown competition; the others become problems."""
    known = []
    for source in sources:
        try:
            refuse_unknown(context, read_report(source.data).entries)
        except BadReport as refusal:
            problems.append(f"{source.group}: {refusal.detail}")
            continue
        known.append(source)
    return known


def report_sources(runs: Path, groups: list[str]) -> tuple[list[ReportSource], list[str]]:
    """The latest report in the directory of each group, and the problems of the others."""
    sources: list[ReportSource] = []
    problems = []
    for group in groups:
        directory = runs / group
        if not _is_inside(directory, runs):
            problems.append(f"{group}: this is not the name of a directory")
            continue
        try:
            files = sorted((f for f in directory.glob(REPORTS) if f.is_file()), key=_order)
        except OSError as error:
            problems.append(f"{group}: it cannot be read: {error.strerror}")
            continue
        if not files:
            problems.append(f"{group}: there is no {REPORTS} in {directory}")
            continue
        problems += [f"{group}: {file.name} is skipped for {files[-1].name}" for file in files[:-1]]
        try:
            data = files[-1].read_bytes()
            read_report(data)
        except OSError as error:
            problems.append(f"{group}: {files[-1].name} cannot be read: {error.strerror}")
            continue
        except BadReport as refusal:
            problems.append(f"{group}: {files[-1].name}: {refusal.detail}")
            continue
        sources.append(ReportSource(data, group))
    return sources, problems


def _is_inside(directory: Path, runs: Path) -> bool:
    try:
        return directory.resolve().parent == runs.resolve()
    except (OSError, RuntimeError, ValueError):  # a circle of links, or a NUL
        return False


def _order(file: Path) -> tuple[bool, list[tuple[int, str]]]:
    """Unnumbered reports after numbered ones; numbers by value, so that 10 comes after 9."""
    parts = re.split(r"([0-9]+)", file.name)
    return file.name.endswith(UNNUMBERED), [
        (int(part), "") if part.isascii() and part.isdigit() else (-1, part) for part in parts
    ]
