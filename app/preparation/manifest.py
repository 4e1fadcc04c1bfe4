"""The manifest of a prepared folder: each file with its size and SHA-256, and how it was made.

It is written last. A folder without one was not prepared completely, or not by this program.
"""

from __future__ import annotations

import hashlib
import os
import platform
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, FailFast, TypeAdapter, ValidationError

from app.errors import BadCompetition
from app.regular_file import file_digest

FILE = "manifest.json"
LIBRARIES = ("numpy", "pandas", "pyarrow", "scikit-learn", "scipy")  # they decide the bytes
LARGEST = 512 << 20  # bytes
Progress = Callable[[str, int], None]


def _only(names: Iterable[str]) -> BeforeValidator:
    """Refuse an object with unknown keys by one error, since pydantic makes one for each."""
    known = frozenset(names)

    def check(value: Any) -> Any:
        if isinstance(value, dict) and not known.issuperset(value):
            raise ValueError("an object has a key that a manifest does not have")
        return value

    return BeforeValidator(check)


def _texts(value: Any) -> Any:
    if isinstance(value, dict) and not all(isinstance(one, str) for one in value.values()):
        raise ValueError("a value is not a text")
    return value


class ListedFile(BaseModel):
    """A file by its path below the folder."""

    model_config = ConfigDict(strict=True, frozen=True)

    name: str
    bytes: int
    sha256: str


class Manifest(BaseModel):
    """The files of a folder at the end of its preparation.

    `root` is the SHA-256 of the lines `SHA256 BYTES NAME` of all files, sorted by name. `source`
    has an archive's length and its members with their CRC-32, or another source of the files;
    `made_by` has the versions of code and libraries; `self_test` has the tests at the end.
    """

    model_config = ConfigDict(strict=True, frozen=True)

    format: int = 1
    competition: str
    prepared_at: str
    grading_only: bool
    root: str
    source: dict[str, Any]
    made_by: Annotated[dict[str, str], BeforeValidator(_texts)]
    self_test: dict[str, Any]
    # Checking stops at the first mistake: otherwise a file of 10 MB took 8 GB of memory.
    files: Annotated[list[Annotated[ListedFile, _only(ListedFile.model_fields)]], FailFast()]


MANIFEST = TypeAdapter(Annotated[Manifest, _only(Manifest.model_fields)])


@dataclass(frozen=True, slots=True)
class Differences:
    """The differences of a folder from its manifest: sorted names of files; `changed` says how."""

    missing: tuple[str, ...]
    extra: tuple[str, ...]
    changed: dict[str, str]

    def __bool__(self) -> bool:
        return bool(self.missing or self.extra or self.changed)

    def problems(self) -> list[dict[str, str]]:
        """Each as a problem of a competition folder."""
        listed = [
            *((name, "is missing: the manifest lists it") for name in self.missing),
            *((name, "is not in the manifest") for name in self.extra),
            *self.changed.items(),
        ]
        return [{"file": file, "key": "", "message": message} for file, message in listed]


def listed_files(folder: Path, progress: Progress | None = None) -> list[ListedFile]:
    """Every file of a folder except the manifest, sorted by name, each read to its end.

    Raises:
        BadCompetition: there is a link, a device or a name that is no text, which no manifest
            describes.
    """
    found = []
    for name, entry in _walk(folder):
        if message := _fault(name, entry):
            shown = name.encode(errors="backslashreplace").decode()
            raise BadCompetition([{"file": shown, "key": "", "message": message}])
        size, sha256 = file_digest(folder / name)
        found.append(ListedFile(name=name, bytes=size, sha256=sha256))
        if progress is not None:
            progress(name, size)
    return sorted(found, key=lambda file: file.name)


def _fault(name: str, entry: os.stat_result) -> str:
    if not stat.S_ISREG(entry.st_mode):
        return "is a link or a device; only plain files can be listed"
    try:
        name.encode()
    except UnicodeEncodeError:
        return "has a name that is not UTF-8"
    return ""


def root_digest(files: Iterable[ListedFile]) -> str:
    """One digest of all files, which depends only on their names and bytes."""
    digest = hashlib.sha256()
    for file in sorted(files, key=lambda file: file.name):
        digest.update(f"{file.sha256} {file.bytes} {file.name}\n".encode())
    return digest.hexdigest()


def libraries() -> dict[str, str]:
    """The versions of Python and of the libraries that determine the written bytes."""
    return {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}}


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest after everything else is on the disk."""
    os.sync()  # one call for all files, since a sync of each takes longer than writing them
    text = manifest.model_dump_json(indent=1) + "\n"
    with (folder / FILE).open("x", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def read_manifest(folder: Path, largest: int = LARGEST) -> Manifest | None:
    """The manifest of a folder, of at most `largest` bytes; None if it has none.

    Raises:
        BadCompetition: it cannot be read, or its digest is not that of its own list.
    """
    file = folder / FILE
    if file.is_symlink() or not file.is_file():
        return None
    with file.open("rb") as opened:
        data = opened.read(largest + 1)
    if len(data) > largest:
        message = f"is larger than {largest} bytes"
        raise BadCompetition([{"file": FILE, "key": "", "message": message}])
    try:
        manifest: Manifest = MANIFEST.validate_json(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        message = f"is not a manifest of `podium prepare` ({place or 'all of it'}: {first['msg']})"
        raise BadCompetition([{"file": FILE, "key": "", "message": message}]) from None
    if manifest.root != root_digest(manifest.files):
        message = "its root digest is not that of the files that it lists: it was changed"
        raise BadCompetition([{"file": FILE, "key": "root", "message": message}])
    return manifest


def differences(folder: Path, manifest: Manifest, progress: Progress | None = None) -> Differences:
    """Compare every file of a folder with its manifest, byte for byte."""
    listed = {file.name: file for file in manifest.files}
    found = dict(_walk(folder))
    changed = {}
    for name in sorted(listed.keys() & found.keys()):
        if how := _change(folder / name, found[name], listed[name]):
            changed[name] = how
        if progress is not None:
            progress(name, found[name].st_size)
    return Differences(
        tuple(sorted(listed.keys() - found.keys())),
        tuple(sorted(found.keys() - listed.keys())),
        changed,
    )


def has_listed_sizes(folder: Path, manifest: Manifest) -> bool:
    """Whether every listed file is there with its size. No file is read."""
    found = {name: entry.st_size for name, entry in _walk(folder)}
    return found == {file.name: file.bytes for file in manifest.files}


def require_as_listed(folder: Path, largest: int = LARGEST) -> None:
    """Check that a folder with a manifest has exactly the files that it lists.

    Raises:
        BadCompetition: names files that are missing, extra or changed.
    """
    manifest = read_manifest(folder, largest)
    if manifest is not None and (found := differences(folder, manifest)):
        raise BadCompetition(found.problems())


def _change(path: Path, entry: os.stat_result, listed: ListedFile) -> str:
    if not stat.S_ISREG(entry.st_mode):
        return "is a link or a device"
    if entry.st_size != listed.bytes:
        return f"has {entry.st_size:,} bytes, and had {listed.bytes:,}"
    return "" if file_digest(path)[1] == listed.sha256 else "has other bytes"


def _walk(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Everything below a folder except directories and the manifest. Follows no links."""
    for directory, folders, files in os.walk(folder):
        links = [name for name in folders if Path(directory, name).is_symlink()]
        for name in (*files, *links):
            path = Path(directory, name)
            relative = path.relative_to(folder).as_posix()
            if relative != FILE:
                yield relative, path.lstat()
