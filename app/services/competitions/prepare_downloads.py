"""Prepare many competitions from Kaggle: one download at a time, and preparations meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from app.downloads.errors import DownloadChanged
from app.downloads.http_ranges import HttpRanges
from app.downloads.zip_download import ZipDownload
from app.errors import BadCompetition, PodiumError, StorageFull
from app.graders.pool import GraderPool
from app.importers.kaggle_draft import description_of
from app.importers.kaggle_source import KaggleSource
from app.preparation.manifest import has_listed_sizes, read_manifest
from app.regular_file import file_digest
from app.services.competitions.kaggle_archives import (
    archive_of,
    archive_place,
    connection,
    reason_of,
    require_room,
    unless_changed,
)
from app.services.competitions.prepare import (
    Prepared,
    Raw,
    prepare,
    prepared_place,
    require_prepare,
)
from app.services.competitions.prepared_folder import remove_interrupted
from app.services.competitions.run_prepare import PREPARE
from app.settings import Settings
from app.thread_pool import ThreadPool

DAMAGE = ("BadZipFile", "zlib.error", "EOFError")  # in the last line of what prepare.py wrote
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class PreparationChoices:
    """Options of the preparations. `jobs` is the number of preparations at the same time."""

    grading_only: bool = False
    jobs: int = 2
    again: bool = False  # prepare again even if the archive and the code have not changed
    deletes_archives: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result for one competition; `detail` says why it failed."""

    slug: str
    state: Literal["prepared", "present", "failed"]
    detail: str = ""
    prepared: Prepared | None = None


class Meter(Protocol):
    """Receives progress, from several threads."""

    def expect(self, total: int, competitions: int) -> None:
        """Set the totals: the bytes to download, and the competitions."""

    def advance(self, size: int) -> None:
        """Add downloaded bytes."""

    def finish(self, outcome: Outcome) -> None:
        """Count a competition that is done or has failed."""


class PrepareDownloads:
    """One run over some competitions. `report` is called with lines about pauses and changes."""

    def __init__(
        self, settings: Settings, source: KaggleSource, graders: GraderPool,
        choices: PreparationChoices, meter: Meter, report: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._settings, self._source, self._graders = settings, source, graders
        self._choices, self._meter, self._report = choices, meter, report
        self._connections: dict[str, HttpRanges] = {}
        self._network = threading.Lock()  # one download at a time; Kaggle's package has one caller
        self._is_interrupted = threading.Event()

    def run(self, folders: Sequence[Path]) -> None:
        """Prepare the competitions of these folders, the smallest download first.

        If one fails, the others go on. The meter gets each outcome as soon as it is known.
        """
        sizes: dict[str, int] = {}
        for folder in folders:
            known = self._attempt(folder.name, lambda: self._known(folder))  # noqa: B023
            if isinstance(known, Outcome):
                self._meter.finish(known)
            else:
                sizes[folder.name] = known
        self._meter.expect(sum(sizes.values()), len(folders))
        waiting: list[Future[None]] = []
        with ThreadPool(self._choices.jobs) as pool:
            try:
                for folder in sorted(
                    (one for one in folders if one.name in sizes), key=lambda one: sizes[one.name]
                ):
                    found = self._attempt(folder.name, lambda: self._download(folder))  # noqa: B023
                    if isinstance(found, Outcome):
                        self._meter.finish(found)
                    else:
                        waiting.append(pool.submit(self._finish, folder, found))
                wait(waiting)
            except BaseException:
                self._is_interrupted.set()  # else the pool would wait for each prepare.py
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        for one in self._connections.values():
            one.close()
        for future in waiting:
            future.result()

    def _attempt(self, slug: str, step: Callable[[], Result]) -> Result | Outcome:
        try:
            return step()
        except (PodiumError, OSError) as error:
            return Outcome(slug, "failed", reason_of(error, self._settings))

    def _known(self, folder: Path) -> int | Outcome:
        """The bytes to download; or the outcome, if it was prepared before."""
        require_prepare(folder, grading_only=self._choices.grading_only)
        if not self._choices.again and self._is_prepared(folder):
            place = prepared_place(self._settings.data_dir, folder.name)
            remove_interrupted(place)
            return Outcome(folder.name, "present", f"is in {place}, as it would be made now")
        download = self._opened(folder.name)
        try:
            missing, unpacked = download.missing_bytes, download.unpacked_bytes
        finally:
            download.close()
        if self._choices.grading_only:
            return 0
        try:
            require_room(self._settings, missing + unpacked)
        except StorageFull as error:
            raise StorageFull(
                f"{missing:,} bytes are to be downloaded, and their files have up to {unpacked:,}. "
                + error.detail
            ) from None
        return missing

    def _opened(self, slug: str) -> ZipDownload:
        with self._network:
            if slug not in self._connections:  # its address is used to list and to download
                self._connections[slug] = connection(self._source, slug, self._report)
            download = archive_of(
                self._settings, slug, self._connections[slug], self._meter.advance
            )
            try:
                unless_changed(download, slug, self._report, download.open)
            except BaseException:
                download.close()
                raise
        return download

    def _download(self, folder: Path) -> ZipDownload:
        """The complete archive, or its member list with grading_only."""
        download = self._opened(folder.name)
        if self._choices.grading_only:
            return download
        try:
            with self._network:
                unless_changed(download, folder.name, self._report, download.fetch_all)
        except BaseException:
            download.close()
            raise
        return download

    def _finish(self, folder: Path, download: ZipDownload) -> None:
        try:
            made = self._attempt(folder.name, lambda: self._prepared(folder, download))
        finally:
            download.close()
        if isinstance(made, Outcome):
            self._meter.finish(made)
            return
        if self._choices.deletes_archives:
            archive_place(self._settings.data_dir, folder.name).unlink(missing_ok=True)
        self._meter.finish(Outcome(folder.name, "prepared", prepared=made))

    def _prepared(self, folder: Path, download: ZipDownload) -> Prepared:
        text = "" if (folder / "description.md").is_file() else self._description(folder.name)

        def fetch(name: str) -> None:
            with self._network:
                download.fetch(name)

        def attempt() -> Prepared:
            asks = fetch if self._choices.grading_only else None
            raw = Raw(download.file, asks, self._watch, text)
            return prepare(
                folder, raw, self._settings.data_dir, self._graders,
                grading_only=self._choices.grading_only,
            )  # fmt: skip

        try:
            return attempt()
        except DownloadChanged:
            self._report(f"{folder.name}: Kaggle has another archive now; starting anew.")
            with self._network:
                download.start_anew()
        except BadCompetition as error:
            if not any(word in error.detail for word in DAMAGE):
                raise
            damaged = download.forget_damaged()
            if not damaged:
                raise
            self._report(
                f"{folder.name}: {damaged} of its members {'is' if damaged == 1 else 'are'} "
                "damaged; downloading again what is."
            )
            with self._network:
                download.fetch_all()
        return attempt()

    def _watch(self) -> None:
        if self._is_interrupted.is_set():
            raise CancelledError
        require_room(self._settings)

    def _description(self, slug: str) -> str:
        with self._network:
            return description_of(slug, self._source.pages(slug))

    def _is_prepared(self, folder: Path) -> bool:
        place = prepared_place(self._settings.data_dir, folder.name)
        try:
            manifest = read_manifest(place)
        except BadCompetition:
            return False
        return (
            manifest is not None
            and manifest.source.get("kind") == "archive"
            and manifest.grading_only == self._choices.grading_only
            and manifest.made_by.get(PREPARE) == file_digest(folder / PREPARE)[1]
            and has_listed_sizes(place, manifest)
        )
