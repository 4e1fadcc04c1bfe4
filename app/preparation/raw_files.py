"""Kaggle's files for a competition, read in place, without unpacking them."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Collection, Iterable
from pathlib import Path, PurePosixPath
from typing import IO, Any, Self, cast

import pandas as pd

from app.preparation import ordered_archives
from app.preparation.raw_names import names_below, require_inside
from app.preparation.shared_bytes import share
from app.preparation.tar_files import Use

# An archive inside an archive is copied to a temporary file: zip files are read from their end.
IN_MEMORY = 64 * 1024 * 1024


class RawFiles:
    """A folder of Kaggle's files, or Kaggle's archive of them.

    A file is searched for by its name in the folder or archive, and then in an archive `NAME.zip`
    there, because Kaggle packs single files so. `within` names another archive there that contains
    it. `grading_only` leaves out the files of `copy_bulk`: images, sound, structures. `fetch` is
    called with the name of each member of Kaggle's archive before it is read, because only the list
    of members may have been downloaded.
    """

    def __init__(
        self,
        root: Path,
        *,
        grading_only: bool = False,
        fetch: Callable[[str], None] | None = None,
    ) -> None:
        self.root = root
        self.grading_only = grading_only
        self._fetch = fetch
        self._open = contextlib.ExitStack()
        self._archives: dict[str, zipfile.ZipFile | None] = {}
        self._seekables: dict[str, IO[bytes]] = {}
        self._folders: set[Path] = set()
        self._top = self._open.enter_context(zipfile.ZipFile(root)) if root.is_file() else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def open(self, name: str, *, within: str | None = None) -> IO[bytes]:
        """Open a file as a stream of bytes.

        Raises:
            FileNotFoundError: there is no such file; says where it was looked for.
            zipfile.BadZipFile: an archive is damaged.
            Invalid: the name leads out of the raw files.
        """
        require_inside(name)
        if within and ordered_archives.is_ordered(within):
            return self._member_in_order(name, within)
        stream = None if within else self._stream(name)
        archive = within or f"{name}.zip"
        if stream is None and (packed := self._archive(archive)) is not None:
            stream = _member(packed, name) or _member(packed, PurePosixPath(name).name)
        if stream is None:
            raise FileNotFoundError(
                f"The raw files have no {name}: it is neither in {self.root.name} nor in {archive} "
                "there. Download the competition's data again, complete."
            )
        return stream

    def open_seekable(self, name: str) -> IO[bytes]:
        """Open a file that is read at any position, such as an archive or a Parquet file.

        A file in Kaggle's archive is copied to a temporary file first.

        Raises:
            FileNotFoundError, zipfile.BadZipFile: as `open`.
        """
        return self._seekable(self.open(name))

    def table(self, name: str, *, within: str | None = None, **options: Any) -> pd.DataFrame:
        """Read a CSV file by the rules of pandas; `options` are those of read_csv.

        Raises:
            FileNotFoundError, zipfile.BadZipFile: as `open`.
        """
        with self.open(name, within=within) as stream:
            table = pd.read_csv(stream, **options)
        return cast(pd.DataFrame, table)

    def copy(self, name: str, target: Path, *, within: str | None = None) -> None:
        """Copy a file to `target` without holding it in memory.

        A file that is unpacked on the same disk is shared with `target`, not copied.

        Raises:
            FileNotFoundError, zipfile.BadZipFile: as `open`.
        """
        require_inside(name)
        self._make_folder_of(target)
        if not within and self._top is None and (file := self.root / name).is_file():
            share(file, target)
            return
        with self.open(name, within=within) as source, target.open("xb") as copy:
            shutil.copyfileobj(source, copy, 1 << 20)

    def copy_bulk(self, copies: Iterable[tuple[str, Path]], *, within: str | None = None) -> None:
        """Copy files that only agents need, not graders: pairs of a name and its target.

        Raises:
            FileNotFoundError, zipfile.BadZipFile: as `open`.
        """
        if self.grading_only:
            return
        if within is None or not ordered_archives.is_ordered(within):
            for name, target in copies:
                self.copy(name, target, within=within)
            return
        targets = dict(copies)

        def write(name: str, content: IO[bytes], _: int) -> None:
            self._make_folder_of(targets[name])
            with targets[name].open("xb") as copy:
                shutil.copyfileobj(content, copy, 1 << 20)

        self.read_members(within, targets, write)

    def read_members(self, archive: str, wanted: Collection[str], use: Use) -> None:
        """Read files of a 7z or tar archive in one pass, in the order of the archive.

        `use` is called with the name, the content and the size of each.

        Raises:
            FileNotFoundError: there is no such archive, or not all wanted files are in it.
            ModuleNotFoundError, and errors of damaged archives: as `ordered_archives.names`.
        """
        for name in wanted:
            require_inside(name)
        ordered_archives.read(archive, self._ordered(archive), wanted, use)

    def zip_bulk(
        self, copies: Iterable[tuple[str, str]], archive: Path, *, within: str | None = None
    ) -> None:
        """Put such files into a new zip archive: pairs of a name and the member's name.

        Members are stored uncompressed, because images and sound are compressed already.

        Raises:
            FileNotFoundError, zipfile.BadZipFile: as `open`.
        """
        if self.grading_only:
            return
        with zipfile.ZipFile(archive, "x") as packed:
            for name, member in copies:
                with (
                    self.open(name, within=within) as source,
                    packed.open(zipfile.ZipInfo(member), "w", force_zip64=True) as target,
                ):
                    shutil.copyfileobj(source, target, 1 << 20)

    def names(self, *, within: str | None = None) -> list[str]:
        """The sorted names of all files, or of those in an archive.

        Raises:
            FileNotFoundError: there is no such archive.
            BadCompetition: there is a link to a folder.
        """
        if within and ordered_archives.is_ordered(within):
            return ordered_archives.names(within, self._ordered(within))
        archive = self._archive(within) if within else self._top
        if archive is not None:
            return sorted(entry.filename for entry in archive.infolist() if not entry.is_dir())
        if within:
            raise FileNotFoundError(f"The raw files have no {within}.")
        return sorted(name for name in names_below(self.root) if (self.root / name).is_file())

    def _make_folder_of(self, target: Path) -> None:
        """Do it once for each folder, because competitions have 100,000 images in one."""
        folder = target.parent
        if folder not in self._folders:
            require_inside(str(folder).removeprefix("/"))
            folder.mkdir(parents=True, exist_ok=True)
            self._folders.add(folder)

    def _stream(self, name: str) -> IO[bytes] | None:
        if self._top is not None:
            if self._fetch is not None and name in self._top.NameToInfo:
                self._fetch(name)
            return _member(self._top, name)
        file = self.root / name
        return file.open("rb") if file.is_file() else None

    def _archive(self, name: str) -> zipfile.ZipFile | None:
        """An archive below the root; it stays open until the end."""
        if name not in self._archives:
            self._archives[name] = self._opened(name)
        return self._archives[name]

    def _opened(self, name: str) -> zipfile.ZipFile | None:
        stream = self._stream(name)
        if stream is None:
            return None
        return self._open.enter_context(zipfile.ZipFile(self._seekable(stream)))

    def _seekable(self, stream: IO[bytes]) -> IO[bytes]:
        """A file that can be read at any position; it stays open until the end."""
        self._open.enter_context(stream)
        if self._top is None:
            return stream
        return self._spooled(stream)

    def _spooled(self, stream: IO[bytes]) -> IO[bytes]:
        spooled = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 (closed by _open)
        copy = cast(IO[bytes], self._open.enter_context(spooled))
        shutil.copyfileobj(stream, copy, 1 << 20)
        copy.seek(0)
        return copy

    def _member_in_order(self, name: str, archive: str) -> IO[bytes]:
        found: list[IO[bytes]] = []
        self.read_members(
            archive, [name], lambda _, content, __: found.append(self._spooled(content))
        )
        return found[0]

    def _ordered(self, archive: str) -> IO[bytes]:
        """A 7z or tar archive at its beginning; it stays open until the end."""
        if not ordered_archives.needs_seeking(archive):
            return self._open.enter_context(self.open(archive))
        if archive not in self._seekables:
            self._seekables[archive] = self.open_seekable(archive)
        self._seekables[archive].seek(0)
        return self._seekables[archive]


def _member(archive: zipfile.ZipFile, name: str) -> IO[bytes] | None:
    try:
        return archive.open(name)
    except KeyError:
        return None
