"""`podium prepare --kaggle`: download and prepare, with progress in a terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import typer
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from app.cli.folders.prepared_output import document, print_prepared
from app.cli.output import err, out, print_json
from app.importers.kaggle_source import KaggleSource
from app.services.competitions.prepare_downloads import (
    Outcome,
    PreparationChoices,
    PrepareDownloads,
)
from app.services.grading.grade_folder import local_graders
from app.settings import Settings


class Bars:
    """Bytes, competitions and the time that is left, drawn in a terminal only."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._bytes = progress.add_task("downloading", total=None, competitions="")
        self._done = self._all = 0

    def expect(self, total: int, competitions: int) -> None:
        """The length of the bar. Of what is downloaded on demand the bytes are not known."""
        self._all = competitions
        self._progress.update(self._bytes, total=total or None, competitions=self._counted())

    def advance(self, size: int) -> None:
        """Bytes came."""
        self._progress.advance(self._bytes, size)

    def finish(self) -> None:
        """A competition is done."""
        self._done += 1
        self._progress.update(self._bytes, competitions=self._counted())

    def _counted(self) -> str:
        return f"{self._done} of {self._all} competitions"


def prepare_downloads(
    settings: Settings, folders: list[Path], choices: PreparationChoices, *, as_json: bool
) -> None:
    """Prepare the competitions of these folders; end with status 1 if one failed."""
    source = KaggleSource(_report)
    with local_graders(settings) as graders, _bars() as bars:
        work = PrepareDownloads(settings, source, graders, choices, bars, _report)
        outcomes = work.run(folders)
    if as_json:
        print_json([_document(one) for one in outcomes])
    else:
        for one in outcomes:
            _print(one)
    if any(one.state == "failed" for one in outcomes):
        raise typer.Exit(1)


@contextlib.contextmanager
def _bars() -> Iterator[Bars]:
    with Progress(
        TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn(),
        TimeRemainingColumn(), TextColumn("{task.fields[competitions]}"), TimeElapsedColumn(),
        console=err, transient=True, disable=not err.is_terminal,
    ) as progress:  # fmt: skip
        yield Bars(progress)


def _document(one: Outcome) -> dict[str, object]:
    made = document(one.prepared) if one.prepared is not None else {"slug": one.slug}
    return {**made, "state": one.state, "detail": one.detail}


def _print(one: Outcome) -> None:
    if one.prepared is not None:
        print_prepared(one.prepared)
    elif one.state == "present":
        out.print(f"{one.slug}: {one.detail}", markup=False, highlight=False, soft_wrap=True)
    else:
        _report(f"{one.slug}: not prepared: {one.detail}")


def _report(line: str) -> None:
    err.print(line, markup=False, highlight=False)
