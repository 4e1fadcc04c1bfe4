"""Output of commands: tables and progress in a terminal, JSON for programs."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)

# Lines are wrapped to the width of a terminal only: `grep` and logs need them in one piece.
out = Console(soft_wrap=not sys.stdout.isatty())
err = Console(stderr=True, soft_wrap=not sys.stderr.isatty())
AsJson = Annotated[bool, typer.Option("--json", help="print JSON on standard output")]


def print_json(document: Any) -> None:
    """One JSON document on standard output."""
    typer.echo(json_text(document))


def json_text(document: Any) -> str:
    """A JSON document as commands print it."""
    return json.dumps(document, indent=2, default=str, ensure_ascii=False)


@contextlib.contextmanager
def working(title: str) -> Iterator[None]:
    """What is being done and for how long, if standard error is a terminal."""
    with Progress(
        SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn(),
        console=err, transient=True, disable=not err.is_terminal,
    ) as progress:  # fmt: skip
        progress.add_task(title, total=None)
        yield


@contextlib.contextmanager
def file_progress(title: str, total: int | None = None) -> Iterator[Any]:
    """A progress bar in bytes, if standard error is a terminal; `total` is None if not known."""
    with Progress(
        TextColumn(title, markup=False), BarColumn(), DownloadColumn(),
        TextColumn("{task.fields[name]}", markup=False),
        TimeElapsedColumn(), console=err, transient=True, disable=not err.is_terminal,
    ) as progress:  # fmt: skip
        task = progress.add_task(title, total=total, name="")
        yield lambda name, size: progress.update(task, advance=size, name=name)


@contextlib.contextmanager
def step_progress() -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar for each step: call it with the step, the amount done since, and the total."""
    with Progress(
        TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(),
        TimeElapsedColumn(), console=err, transient=True, disable=not err.is_terminal,
    ) as progress:  # fmt: skip
        tasks: dict[str, TaskID] = {}

        def advance(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = progress.add_task(step)
            progress.update(tasks[step], advance=done, total=total)

        yield advance
