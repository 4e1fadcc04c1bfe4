"""`podium demo`: a server, an agent with a run's key, a medal, and a rejected file."""

from __future__ import annotations

from typing import Annotated

import typer


def demo(
    once: Annotated[bool, typer.Option("--once", help="exit after the result")] = False,
) -> None:
    """Serve on a new data directory, and let a small agent win a medal over HTTP."""
    from app.cli.demo.run_demo import run_demo

    run_demo(once=once)
