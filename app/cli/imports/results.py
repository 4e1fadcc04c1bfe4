"""`podium import grading-report`, `run-groups` and `mlagentbench-results`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.context import podium
from app.cli.imports.archived_note import note_archived
from app.cli.options import AsJson, regular
from app.cli.output import out, print_json, print_note
from app.domain.states import ArchivalKind
from app.domain.wording import counted, first_lines

if TYPE_CHECKING:
    from app.importers.grading_report import Mismatch
    from app.services.imports.grading_reports import ImportedReports
    from app.services.imports.run_groups import ImportedExperiment

MISMATCHES = 20  # printed; --json lists all
Experiment = Annotated[str, typer.Argument(help="the experiment's name; made if it is new")]


def import_grading_report(
    experiment: Experiment,
    file: Annotated[
        Path, typer.Argument(help="a grading_report.json", exists=True, callback=regular)
    ],
    seed: Annotated[int, typer.Option(help="the seed of these results")] = 0,
    repeats: Annotated[
        bool, typer.Option("--repeats", help="a competition that occurs again gets the next seed")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Import a grading report of MLE-bench into an experiment, which is made if it is new."""
    from app.services.imports import grading_reports

    with podium(creates=True, doing="importing results") as context:
        sources = [grading_reports.ReportSource(file.read_bytes())]
        imported = grading_reports.import_reports(
            context, experiment, sources, seed=seed, repeats=repeats, create=True
        )
        note_archived(context, ArchivalKind.EXPERIMENT, experiment)
    if as_json:
        print_json(asdict(imported))
    else:
        _print_summary(experiment, imported)


def import_run_groups(
    table: Annotated[
        Path, typer.Argument(help="run_group_experiments.csv", exists=True, callback=regular)
    ],
    runs: Annotated[Path, typer.Argument(help="the directory of run groups", exists=True)],
    experiment: Annotated[list[str], typer.Option(help="only these experiments")] = [],  # noqa: B006
    as_json: AsJson = False,
) -> None:
    """Import complete experiments of MLE-bench: each run group becomes a seed.

    Groups that cannot be read are listed and skipped. The status is 1 if an experiment has no
    group that can be imported.
    """
    from app.services.imports.run_groups import import_groups

    with podium(creates=True, doing="importing results") as context:
        found = import_groups(context, table, runs, experiment)
        for one in found:
            note_archived(context, ArchivalKind.EXPERIMENT, one.experiment)
    if as_json:
        print_json([_group_document(one) for one in found])
    else:
        for one in found:
            _print_imported(one)
    if any(one.reports is None for one in found):
        raise typer.Exit(1)


def import_mlagentbench_results(
    experiment: Experiment,
    file: Annotated[
        Path,
        typer.Argument(
            help="the JSON file of MLAgentBench's evaluation", exists=True, callback=regular
        ),
    ],
    competition: Annotated[str, typer.Option(help="the competition of the file's task")],
    seed: Annotated[int, typer.Option(help="the seed of the first run")] = 0,
    as_json: AsJson = False,
) -> None:
    """Import a task's evaluated runs into an experiment; all of them, or none."""
    from app.services.imports import mlagentbench_results

    with podium(creates=True, doing="importing results") as context:
        source = mlagentbench_results.EvaluationFile(file.read_bytes(), file.name, competition)
        imported = mlagentbench_results.import_evaluation(
            context, experiment, source, seed=seed, create=True
        )
    if as_json:
        print_json(asdict(imported))
        return
    failures = ", ".join(
        f"{count} {kind}" for kind, count in sorted(imported.failures.items()) if kind != "none"
    )
    seeds = f"{imported.seeds[0]} to {imported.seeds[-1]}"
    out.print(
        f"{experiment}: {counted(imported.imported, 'run')} at {competition} imported with "
        f"{counted(imported.scores, 'score')}, {imported.unchanged} imported before; "
        f"seeds {seeds}; failures: {failures or 'none'}; mismatches: {len(imported.mismatches)}",
        markup=False, highlight=False,
    )  # fmt: skip
    _print_mismatches(imported.mismatches)


def _print_imported(one: ImportedExperiment) -> None:
    for problem in one.problems:
        print_note(f"{one.experiment}: {problem}")
    if one.reports is None:
        print_note(f"{one.experiment}: nothing was imported")
    else:
        _print_summary(one.experiment, one.reports)


def _group_document(one: ImportedExperiment) -> dict[str, Any]:
    document = asdict(one)
    document["taken"] = document.pop("reports")
    return document


def _print_summary(experiment: str, imported: ImportedReports) -> None:
    seeds = ", ".join(map(str, imported.seeds))
    out.print(
        f"{experiment}: {counted(imported.imported, 'result')} imported, "
        f"{imported.unchanged} before; seeds {seeds}; mismatches: {len(imported.mismatches)}",
        markup=False, highlight=False,
    )  # fmt: skip
    _print_mismatches(imported.mismatches)


def _print_mismatches(found: Sequence[Mismatch]) -> None:
    lines = [
        f"{one.place}: the file says {one.file}, Podium finds {one.ours}"
        + (f" ({one.note})" if one.note else "")
        for one in found
    ]
    for line in first_lines(lines, MISMATCHES, "--json lists all"):
        print_note(f"  {line}")
