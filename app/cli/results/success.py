"""Options for success against baselines, and the import of MLAgentBench's results."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from app.cli.context import podium
from app.cli.output import AsJson, out, print_json
from app.cli.results.mismatches import print_mismatches
from app.services.results import mlagentbench_results
from app.services.results.mlagentbench_results import EvaluationFile
from app.services.results.success_rates import Baselines

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


def import_mlagentbench_results(
    experiment: Annotated[str, typer.Argument(help="the experiment's name; made if it is new")],
    file: Annotated[
        Path, typer.Argument(help="the JSON file of MLAgentBench's evaluation", exists=True)
    ],
    competition: Annotated[str, typer.Option(help="the competition of the file's task")],
    seed: Annotated[int, typer.Option(help="the seed of the first run")] = 0,
    as_json: AsJson = False,
) -> None:
    """Import a task's evaluated runs into an experiment; all of them, or none."""
    with podium(creates=True) as context:
        source = EvaluationFile(file.read_bytes(), file.name, competition)
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
        f"{experiment}: {imported.imported} runs at {competition} imported with {imported.scores} "
        f"scores, {imported.unchanged} imported before; seeds {seeds}; failures: "
        f"{failures or 'none'}; {len(imported.mismatches)} mismatches",
        markup=False, highlight=False,
    )  # fmt: skip
    print_mismatches(imported.mismatches)
