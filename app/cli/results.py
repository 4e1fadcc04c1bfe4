"""`podium report` and the import of grading reports: results in and out of a terminal."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from app.api.result_views import rates_markdown
from app.api.tables import as_csv, as_parquet
from app.cli.output import AsJson, err, out, podium, print_json
from app.services import grading_reports, results
from app.services.grading_reports import Source, Taken
from app.services.rate_report import rates_document, rates_rows
from app.services.results import Excluded, GroupBy, Scope
from app.services.run_groups import take_in_groups
from app.statistics.attempts import Padding

Experiment = Annotated[str, typer.Argument(help="the experiment's name")]
SHOWN = 20


def report(
    experiment: Experiment,
    suite: Annotated[str, typer.Option(help="the suite; none: all it has runs at")] = "",
    padding: Annotated[Padding, typer.Option(help="what missing results become")] = Padding.NONE,
    group_by: Annotated[
        GroupBy, typer.Option(help="groups beside all competitions")
    ] = GroupBy.COMPLEXITY,
    exclude_flags: Annotated[str, typer.Option(help="codes of flags, with commas")] = "",
    excluded: Annotated[
        Excluded, typer.Option(help="leave flagged competitions out, or count failures")
    ] = Excluded.DROP,
    as_json: AsJson = False,
    csv: Annotated[bool, typer.Option("--csv", help="a line for each group and rate")] = False,
    parquet: Annotated[
        Path | None, typer.Option(help="write those lines to this file, as Parquet")
    ] = None,
) -> None:
    """Print an experiment's medal rates as Markdown: the row of MLE-bench's board, and more."""
    flags = tuple(sorted({flag.strip() for flag in exclude_flags.split(",") if flag.strip()}))
    with podium(graders=1) as context:
        scope = Scope(suite or None, padding, flags, excluded)
        basis, groups = results.medal_rates(context, experiment, scope, group_by)
    if parquet is not None:
        parquet.write_bytes(as_parquet(rates_rows(basis, groups)))
    if as_json:
        print_json(rates_document(basis, groups))
    elif csv:
        sys.stdout.write(as_csv(rates_rows(basis, groups)))
    else:
        sys.stdout.write(rates_markdown(basis, groups))


def import_grading_report(
    experiment: Experiment,
    file: Annotated[Path, typer.Argument(help="a grading_report.json", exists=True)],
    seed: Annotated[int, typer.Option(help="the seed of these results")] = 0,
    repeats: Annotated[
        bool, typer.Option("--repeats", help="a competition that comes again has the next seed")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Import a grading report of MLE-bench as results of an experiment; made if it is new."""
    with podium(graders=1) as context:
        grading_reports.create_if_new(context, experiment)
        sources = [Source(file.read_bytes())]
        taken = grading_reports.take_in(context, experiment, sources, seed=seed, repeats=repeats)
    if as_json:
        print_json(asdict(taken))
    else:
        _tell(experiment, taken)


def import_run_groups(
    table: Annotated[Path, typer.Argument(help="run_group_experiments.csv", exists=True)],
    runs: Annotated[Path, typer.Argument(help="the directory of run groups", exists=True)],
    experiment: Annotated[list[str], typer.Option(help="only these experiments")] = [],  # noqa: B006
    as_json: AsJson = False,
) -> None:
    """Import whole experiments of MLE-bench: their run groups are their seeds."""
    with podium(graders=1) as context:
        found = take_in_groups(context, table, runs, experiment)
    if as_json:
        print_json([asdict(one) for one in found])
        return
    for one in found:
        for problem in one.problems:
            err.print(f"{one.experiment}: {problem}", markup=False, highlight=False)
        if one.taken is not None:
            _tell(one.experiment, one.taken)


def _tell(experiment: str, taken: Taken) -> None:
    seeds = ", ".join(map(str, taken.seeds))
    out.print(
        f"{experiment}: {taken.imported} results imported, {taken.unchanged} were here already; "
        f"seeds {seeds}; {len(taken.mismatches)} mismatches",
        markup=False, highlight=False,
    )  # fmt: skip
    for one in taken.mismatches[:SHOWN]:
        note = f" ({one.note})" if one.note else ""
        err.print(
            f"  {one.place}: the file says {one.file}, we find {one.ours}{note}",
            markup=False, highlight=False,
        )  # fmt: skip
    if len(taken.mismatches) > SHOWN:
        err.print(f"  and {len(taken.mismatches) - SHOWN} more: --json lists all")
