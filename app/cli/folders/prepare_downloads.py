"""`podium prepare --kaggle`: download and prepare, with progress in a terminal."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

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

from app.cli.folders.prepare_folders import document, print_prepared
from app.cli.output import err, json_at_the_end, out, print_note
from app.errors import Invalid
from app.importers.kaggle_source import KaggleSource
from app.read_settings import read_settings
from app.services.competitions.folders import folders_in
from app.services.competitions.prepare_downloads import (
    Outcome,
    PreparationChoices,
    PrepareDownloads,
)
from app.services.competitions.suites import declared
from app.services.grading.grade_folder import local_graders


class Bars:
    """Bytes, competitions and the time that is left, drawn in a terminal only.

    `report` is called with each outcome.
    """

    def __init__(self, progress: Progress, report: Callable[[Outcome], None]) -> None:
        self._progress, self._report, self._reporting = progress, report, threading.Lock()
        self._bytes = progress.add_task("downloading", total=None, competitions="")
        self._done = self._all = 0

    def expect(self, total: int, competitions: int) -> None:
        """Set the length of the bar. For downloads on demand, the number of bytes is not known."""
        self._all = competitions
        self._progress.update(self._bytes, total=total or None, competitions=self._counted())

    def advance(self, size: int) -> None:
        """Add bytes that arrived."""
        self._progress.advance(self._bytes, size)

    def finish(self, outcome: Outcome) -> None:
        """Print the outcome of a competition that is done or has failed."""
        with self._reporting:
            self._progress.stop()  # otherwise its line would be written into the bars
            self._report(outcome)
            self._progress.start()
            self._done += 1
            self._progress.update(self._bytes, competitions=self._counted())

    def _counted(self) -> str:
        return f"{self._done} of {self._all} competitions"


def prepare_downloads(
    slugs: list[str], suite: str, choices: PreparationChoices, *, as_json: bool
) -> None:
    """Prepare these competitions and those of the suite; end with status 1 if one failed.

    Each outcome is printed as soon as it is known: a run takes hours, and may be interrupted.
    """
    settings = read_settings()
    wanted = [*slugs, *(declared(settings.competitions_dir, suite) if suite else [])]
    if not wanted:
        raise Invalid(f"The suite {suite} has no competitions.")
    folders = folders_in(settings.competitions_dir, list(dict.fromkeys(wanted)))
    source = KaggleSource(print_note)
    outcomes: dict[str, Outcome] = {}

    def report(one: Outcome) -> None:
        outcomes[one.slug] = one
        if not as_json:
            _print(one)

    def documents() -> list[dict[str, object]]:
        return [_document(outcomes[one.name]) for one in folders if one.name in outcomes]

    printed = json_at_the_end(outcomes, documents, as_json=as_json)
    with printed, local_graders(settings) as graders, _bars(report) as bars:
        PrepareDownloads(settings, source, graders, choices, bars, print_note).run(folders)
    if any(one.state == "failed" for one in outcomes.values()):
        raise typer.Exit(1)


@contextlib.contextmanager
def _bars(report: Callable[[Outcome], None]) -> Iterator[Bars]:
    with Progress(
        TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn(),
        TimeRemainingColumn(), TextColumn("{task.fields[competitions]}"), TimeElapsedColumn(),
        console=err, transient=True, disable=not err.is_terminal,
    ) as progress:  # fmt: skip
        yield Bars(progress, report)


def _document(one: Outcome) -> dict[str, object]:
    made = document(one.prepared) if one.prepared is not None else {"slug": one.slug}
    return {**made, "state": one.state, "detail": one.detail}


def _print(one: Outcome) -> None:
    if one.prepared is not None:
        print_prepared(one.prepared)
    elif one.state == "present":
        out.print(f"{one.slug}: {one.detail}", markup=False, highlight=False, soft_wrap=True)
    else:
        print_note(f"{one.slug}: not prepared: {one.detail}")
