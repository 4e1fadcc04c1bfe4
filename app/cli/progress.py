"""The progress of a command, if standard error is a terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Protocol

from rich.progress import (
    BarColumn,
    DownloadColumn,
    SpinnerColumn,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import Progress as Bars

from app.cli.output import err, visible


class Progress(Protocol):
    """Shows progress: the current item, the amount done since the last call, and the total."""

    def __call__(self, name: str, done: int, total: int | None = None, /) -> None:
        """`total` is None if it is not known, or was given before."""


@contextlib.contextmanager
def working(title: str) -> Iterator[None]:
    """Show the title of some work and the time since its start."""
    with Bars(
        SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn(),
        console=err, transient=True, disable=not err.is_terminal,
    ) as bars:  # fmt: skip
        bars.add_task(visible(title), total=None)
        yield


@contextlib.contextmanager
def file_progress(title: str, total: int | None = None) -> Iterator[Progress]:
    """A single bar in bytes, with the name of the current file."""
    with Bars(
        TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(),
        TextColumn("{task.fields[name]}", markup=False),
        TimeElapsedColumn(), console=err, transient=True, disable=not err.is_terminal,
    ) as bars:  # fmt: skip
        task = bars.add_task(visible(title), total=total, name="")

        def progress(name: str, done: int, total: int | None = None, /) -> None:
            bars.update(task, advance=done, total=total, name=visible(name))

        yield progress


@contextlib.contextmanager
def step_progress() -> Iterator[Progress]:
    """A bar for each step, which begins with the step's first call."""
    with Bars(
        TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(),
        TimeElapsedColumn(), console=err, transient=True, disable=not err.is_terminal,
    ) as bars:  # fmt: skip
        tasks: dict[str, TaskID] = {}

        def progress(name: str, done: int, total: int | None = None, /) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(visible(name))
            bars.update(tasks[name], advance=done, total=total)

        yield progress
