"""`podium report`, and the import of grading reports and run groups."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.context import podium
from app.cli.output import AsJson, err, out, print_json
from app.cli.results.mismatches import print_mismatches
from app.cli.results.success import KnownBaselines, Starter, Threshold
from app.errors import Invalid
from app.reports.medal_rates import medal_rates_report
from app.reports.success_rates import success_report
from app.reports.tables import to_csv, to_parquet
from app.services.results import experiment_results, grading_reports, success_rates
from app.services.results.experiment_results import Excluded, GroupBy, ResultFilter
from app.services.results.grading_reports import ImportedReports, ReportSource
from app.services.results.run_groups import ImportedExperiment, import_groups
from app.services.results.success_rates import (
    Baselines,
    SuccessGroupBy,
    SuccessScope,
    has_only_baselines,
)
from app.statistics.attempts import Padding

Experiment = Annotated[str, typer.Argument(help="the experiment's name")]


def report(
    experiment: Experiment,
    suite: Annotated[
        str, typer.Option(help="the suite; without: all competitions of its runs")
    ] = "",
    padding: Annotated[
        Padding | None,
        typer.Option(
            help="how missing results count; default for medals: none, for success: complete"
        ),
    ] = None,
    group_by: Annotated[
        GroupBy, typer.Option(help="medal rates also for each group of this kind")
    ] = GroupBy.COMPLEXITY,
    exclude_flags: Annotated[str, typer.Option(help="codes of flags, separated by commas")] = "",
    excluded: Annotated[
        Excluded, typer.Option(help="leave flagged competitions out, or count failures")
    ] = Excluded.DROP,
    success: Annotated[
        bool | None,
        typer.Option(
            "--success/--medals",
            help="success against baselines, or medals; by default success if no competition has "
            "a human leaderboard",
        ),
    ] = None,
    threshold: Threshold = None,
    baselines: KnownBaselines = Baselines.REQUIRED,
    starter: Starter = None,
    as_json: AsJson = False,
    csv: Annotated[
        bool, typer.Option("--csv", help="print CSV: a row for each group and rate")
    ] = False,
    parquet: Annotated[
        Path | None, typer.Option(help="write the rows of --csv to this file, as Parquet")
    ] = None,
) -> None:
    """Print an experiment's medal rates, or its success against baselines, as Markdown.

    Medal rates include the row of MLE-bench's leaderboard; --success prints a row for each
    competition.
    """
    flags = tuple(sorted({flag.strip() for flag in exclude_flags.split(",") if flag.strip()}))
    scope = ResultFilter(suite or None, padding or Padding.NONE, flags, excluded)
    by_success = threshold is not None or starter is not None
    if by_success and success is False:
        raise Invalid(
            "--threshold and --starter need success against baselines: leave out --medals."
        )
    with podium() as context:
        if success is None and not by_success:
            by_success = has_only_baselines(context, experiment, scope.suite)
        if success or by_success:
            scope = replace(scope, padding=padding or Padding.COMPLETE)
            asked = SuccessScope(scope, threshold, baselines, starter)
            by = SuccessGroupBy.COMPETITION
            shown = success_report(success_rates.success(context, experiment, asked, by))
        else:
            rates = experiment_results.medal_rates(context, experiment, scope, group_by)
            shown = medal_rates_report(*rates)
    if parquet is not None:
        parquet.write_bytes(to_parquet(shown.rows))
    if as_json:
        print_json(shown.document)
    elif csv:
        sys.stdout.write(to_csv(shown.rows))
    else:
        sys.stdout.write(shown.markdown())


def import_grading_report(
    experiment: Experiment,
    file: Annotated[Path, typer.Argument(help="a grading_report.json", exists=True)],
    seed: Annotated[int, typer.Option(help="the seed of these results")] = 0,
    repeats: Annotated[
        bool, typer.Option("--repeats", help="a competition that occurs again gets the next seed")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Import a grading report of MLE-bench into an experiment, which is made if it is new."""
    with podium(creates=True) as context:
        grading_reports.create_if_new(context, experiment)
        sources = [ReportSource(file.read_bytes())]
        imported = grading_reports.import_reports(
            context, experiment, sources, seed=seed, repeats=repeats
        )
    if as_json:
        print_json(asdict(imported))
    else:
        _print_summary(experiment, imported)


def import_run_groups(
    table: Annotated[Path, typer.Argument(help="run_group_experiments.csv", exists=True)],
    runs: Annotated[Path, typer.Argument(help="the directory of run groups", exists=True)],
    experiment: Annotated[list[str], typer.Option(help="only these experiments")] = [],  # noqa: B006
    as_json: AsJson = False,
) -> None:
    """Import complete experiments of MLE-bench: each run group becomes a seed."""
    with podium(creates=True) as context:
        found = import_groups(context, table, runs, experiment)
    if as_json:
        print_json([_group_document(one) for one in found])
        return
    for one in found:
        for problem in one.problems:
            err.print(f"{one.experiment}: {problem}", markup=False, highlight=False)
        if one.reports is not None:
            _print_summary(one.experiment, one.reports)


def _group_document(one: ImportedExperiment) -> dict[str, Any]:
    document = asdict(one)
    document["taken"] = document.pop("reports")
    return document


def _print_summary(experiment: str, imported: ImportedReports) -> None:
    seeds = ", ".join(map(str, imported.seeds))
    out.print(
        f"{experiment}: {imported.imported} results imported, {imported.unchanged} before; "
        f"seeds {seeds}; {len(imported.mismatches)} mismatches",
        markup=False, highlight=False,
    )  # fmt: skip
    print_mismatches(imported.mismatches)
