"""The files that Kaggle gives for a competition, read where they lie: nothing is unpacked."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import IO, Any, Self, cast

import pandas as pd

# An archive inside an archive is copied to a temporary file: zip files are read from their end.
IN_MEMORY = 64 * 1024 * 1024


class RawFiles:
    """A folder of Kaggle's files, or Kaggle's archive of them.

    A file is found by its name under the folder or archive, or alone in an archive `NAME.zip`
    beside it, as Kaggle packs single files. `within` names another archive that has it.
    `grading_only` leaves out what `copy_bulk` would copy: images, sound, structures.
    """

    def __init__(self, root: Path, *, grading_only: bool = False) -> None:
        self.root = root
        self.grading_only = grading_only
        self._open = contextlib.ExitStack()
        self._archives: dict[str, zipfile.ZipFile | None] = {}
        self._top = self._open.enter_context(zipfile.ZipFile(root)) if root.is_file() else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._open.close()

    def open(self, name: str, *, within: str | None = None) -> IO[bytes]:
        """Open a file as a stream of bytes.

        Raises:
            FileNotFoundError: there is no such file; says where it was looked for.
            zipfile.BadZipFile: an archive is damaged.
        """
        stream = None if within else self._stream(name)
        for archive in [within] if within else [f"{name}.zip"]:
            if stream is None and (packed := self._archive(archive)) is not None:
                stream = _member(packed, name) or _member(packed, PurePosixPath(name).name)
        if stream is None:
            place = within or f"{name}.zip"
            raise FileNotFoundError(
                f"The raw files have no {name}: it is neither in {self.root.name} nor in {place} "
                "there. Download the competition's data again, complete."
            )
        return stream

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

        Raises:
            FileNotFoundError, zipfile.BadZipFile: as `open`.
        """
        target.parent.mkdir(parents=True, exist_ok=True)
        with self.open(name, within=within) as source, target.open("xb") as copy:
            shutil.copyfileobj(source, copy, 1 << 20)

    def copy_bulk(self, copies: Iterable[tuple[str, Path]], *, within: str | None = None) -> None:
        """Copy files that agents need and no grader does: pairs of a name and its target.

        Raises:
            FileNotFoundError, zipfile.BadZipFile: as `open`.
        """
        for name, target in () if self.grading_only else copies:
            self.copy(name, target, within=within)

    def zip_bulk(
        self, copies: Iterable[tuple[str, str]], archive: Path, *, within: str | None = None
    ) -> None:
        """Put such files into a new zip archive: pairs of a name and the member's name.

        Members are stored as they are: images and sound are packed already.

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
        """
        archive = self._archive(within) if within else self._top
        if archive is not None:
            return sorted(entry.filename for entry in archive.infolist() if not entry.is_dir())
        if within:
            raise FileNotFoundError(f"The raw files have no {within}.")
        files = (path for path in self.root.rglob("*") if path.is_file())
        return sorted(path.relative_to(self.root).as_posix() for path in files)

    def _stream(self, name: str) -> IO[bytes] | None:
        if self._top is not None:
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
        self._open.enter_context(stream)
        if self._top is not None:
            spooled = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 (closed by _open)
            copy = cast(IO[bytes], self._open.enter_context(spooled))
            shutil.copyfileobj(stream, copy, 1 << 20)
            stream = copy
        return self._open.enter_context(zipfile.ZipFile(stream))


def _member(archive: zipfile.ZipFile, name: str) -> IO[bytes] | None:
    try:
        return archive.open(name)
    except KeyError:
        return None
