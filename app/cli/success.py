"""Success against baselines in a terminal, and MLAgentBench's results in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from app.api.success_views import success_markdown
from app.cli.output import AsJson, out, podium, print_json, tell_mismatches
from app.reports.success_rates import success_document, success_rows
from app.services.results import mlagentbench_results
from app.services.results.mlagentbench_results import EvaluationFile
from app.services.results.success_rates import Baselines, SuccessGroupBy, SuccessScope, success
from app.services.runtime.context import Context

Threshold = Annotated[
    float | None,
    typer.Option(
        min=1e-9, max=1000, help="success: improve by more than this share of the baseline"
    ),
]
KnownBaselines = Annotated[
    Baselines, typer.Option(help="success: runs without a known baseline are refused or left out")
]
Starter = Annotated[
    str | None,
    typer.Option(help="success: an experiment whose mean scores are baselines where none is known"),
]


@dataclass(frozen=True, slots=True)
class Forms:
    """One result in the forms that a command prints."""

    document: Any
    rows: Sequence[dict[str, Any]]
    markdown: str


def success_forms(context: Context, experiment: str, asked: SuccessScope) -> Forms:
    """An experiment's success rates, by competition."""
    found = success(context, experiment, asked, SuccessGroupBy.COMPETITION)
    return Forms(success_document(found), success_rows(found), success_markdown(found))


def import_mlagentbench_results(
    experiment: Annotated[str, typer.Argument(help="the experiment's name; made if it is new")],
    file: Annotated[Path, typer.Argument(help="what MLAgentBench's evaluation wrote", exists=True)],
    competition: Annotated[str, typer.Option(help="the competition that the file's task is here")],
    seed: Annotated[int, typer.Option(help="the seed of the first run")] = 0,
    as_json: AsJson = False,
) -> None:
    """Import a task's evaluated runs as runs of an experiment; all of them, or none."""
    with podium(graders=1) as context:
        source = EvaluationFile(file.read_bytes(), file.name, competition)
        taken = mlagentbench_results.import_evaluation(
            context, experiment, source, seed=seed, create=True
        )
    if as_json:
        print_json(asdict(taken))
        return
    failures = ", ".join(
        f"{count} {kind}" for kind, count in sorted(taken.failures.items()) if kind != "none"
    )
    seeds = f"{taken.seeds[0]} to {taken.seeds[-1]}"
    out.print(
        f"{experiment}: {taken.imported} runs at {competition} imported with {taken.scores} "
        f"scores, {taken.unchanged} were here already; seeds {seeds}; failures: "
        f"{failures or 'none'}; {len(taken.mismatches)} mismatches",
        markup=False, highlight=False,
    )  # fmt: skip
    tell_mismatches(taken.mismatches)
