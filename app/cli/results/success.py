"""Options for success against baselines."""

from __future__ import annotations

from typing import Annotated

import typer

from app.domain.result_choices import Baselines

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
