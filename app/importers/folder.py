"""Stage a competition folder: copy it, and check that it is complete and consistent."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from app.domain.competition import METRIC_FILE, SAMPLE_FILE, TOML, Competition, parse_competition
from app.domain.leaderboard import Leaderboard
from app.domain.lint import LintFinding
from app.domain.read_leaderboard import FILE as LEADERBOARD
from app.domain.states import CompetitionStatus
from app.errors import BadCompetition
from app.importers.leaderboard import checked_leaderboard
from app.importers.names import problem
from app.importers.tree import (
    FOLDERS,
    TOP_FILES,
    SourceFile,
    StagedFile,
    copy_file,
    list_files,
    sync_folders,
)

MAX_FILES, ONE_DISK = 10_000_000, 1 << 42  # for an admin's own data, only the disk is the limit
DESCRIPTION = "description.md"
# Files for people, and the record of how files were made: they change no grade.
NOT_HASHED = frozenset({"README.md", "prepare.py", "provenance.json", "manifest.json"})


@dataclass(frozen=True, slots=True)
class PublicFile:
    """A file that agents get; `name` is its path below `public/`."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Staged:
    """A competition folder, copied to `directory` and checked, apart from its metric and answers.

    `toml` is competition.toml as written, `files` are the public files and `copies` all files in
    `directory`. `lint` has only warnings.
    """

    slug: str
    competition: Competition
    toml: str
    content_hash: str
    files: tuple[PublicFile, ...]
    copies: tuple[StagedFile, ...]
    leaderboard: Leaderboard | None
    leaderboard_complete: bool
    lint: tuple[LintFinding, ...]
    status: CompetitionStatus
    directory: Path


def stage_folder(
    source: Path,
    staging: Path,
    *,
    max_bytes: int,
    max_files: int = MAX_FILES,
    progress: Callable[[str, int], None] | None = None,
    stored: Collection[str] = (),
) -> Staged:
    """Copy the competition folder `source`, whose name is the slug, into `staging` and check it.

    `staging` must be empty or not exist; on failure it is left empty. `max_bytes` limits all files
    together, unpacked. `progress` is called with the path and bytes of each copied file. The limits
    of a new competition.toml do not apply to texts in `stored`, which versions of it have already.

    Raises:
        BadCompetition: the folder is invalid; the error lists the problems with their files.
    """
    if not source.is_dir():
        raise BadCompetition([problem(source.name, "", "is not a folder")])
    staging.mkdir(parents=True, exist_ok=True)
    if any(staging.iterdir()):
        raise FileExistsError(f"{staging} is not empty")
    try:
        entries = list_files(source, max_files=max_files)
        return _stage(source.absolute().name, entries, staging, max_bytes, progress, stored)
    except BaseException:
        for left in staging.iterdir():
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        raise


def stage_for_grading(source: Path, staging: Path) -> tuple[Competition, CompetitionStatus]:
    """Copy into `staging` the files of `source` that a grader reads, and check them as an import.

    A grader reads only the sample submission of the public files.

    Raises:
        BadCompetition: the folder is invalid; the error lists the problems with their files.
    """
    staging.mkdir(parents=True, exist_ok=True)
    entries = [
        entry
        for entry in list_files(source, max_files=MAX_FILES)
        if not entry.path.startswith("public/") or entry.staged == SAMPLE_FILE
    ]
    staged = _stage(source.name, entries, staging, ONE_DISK, None)
    return staged.competition, staged.status


def content_hash(files: Iterable[StagedFile]) -> str:
    """SHA-256 over all files that agents see or that decide their grades.

    Each file gives a line `path`, NUL, SHA-256, sorted by path; packed files count as unpacked.
    """
    digest = hashlib.sha256()
    for file in sorted(files, key=lambda file: file.path):
        if file.path not in NOT_HASHED:
            digest.update(f"{file.path}\0{file.sha256}\n".encode())
    return digest.hexdigest()


def _stage(
    slug: str,
    entries: list[SourceFile],
    staging: Path,
    max_bytes: int,
    progress: Callable[[str, int], None] | None,
    stored: Collection[str] = (),
) -> Staged:
    copies: dict[str, StagedFile] = {}
    remaining = max_bytes

    def copy(entry: SourceFile, limit: int) -> None:
        nonlocal remaining
        too_large = (
            f"is larger than {limit} bytes"
            if limit <= remaining
            else f"with it the folder's files are larger than {max_bytes} bytes together"
        )
        copied = copies[entry.staged] = copy_file(
            entry, staging, max_bytes=min(remaining, limit), too_large=too_large
        )
        remaining -= copied.bytes
        if progress is not None:
            progress(copied.path, copied.bytes)

    # Small files come first, so that their mistakes are reported before gigabytes are copied.
    for entry in (e for e in entries if e.path in TOP_FILES):
        copy(entry, TOP_FILES[entry.path])
    toml = _text(staging, copies, TOML)
    if toml is None:
        raise BadCompetition([problem(TOML, "", "is missing: every competition folder has one")])
    competition = parse_competition(slug, toml, is_new=toml not in stored)
    _check_texts(competition)
    status = _status(competition, {entry.staged for entry in entries})
    _check_description(_text(staging, copies, DESCRIPTION), status)
    _text(staging, copies, METRIC_FILE)
    leaderboard, findings = checked_leaderboard(competition, _text(staging, copies, LEADERBOARD))
    for entry in (e for e in entries if e.path not in TOP_FILES):
        copy(entry, max_bytes)
    check_nothing_leaks(copies.values())
    sync_folders(staging)
    return Staged(
        slug=slug,
        competition=competition,
        toml=toml,
        content_hash=content_hash(copies.values()),
        files=tuple(
            PublicFile(c.path.removeprefix("public/"), c.bytes, c.sha256)
            for c in sorted(copies.values(), key=lambda c: c.path)
            if c.path.startswith("public/")
        ),
        copies=tuple(sorted(copies.values(), key=lambda c: c.path)),
        leaderboard=leaderboard,
        leaderboard_complete=leaderboard is not None and leaderboard.is_complete,
        lint=tuple(findings),
        status=status,
        directory=staging,
    )


def _check_texts(competition: Competition) -> None:
    form = competition.submission
    for name, column in form.columns.items() if form else ():
        if column.kind == "text" and column.same_as_empty and not column.allow_empty:
            message = "same_as_empty names texts that count as empty: set allow_empty = true"
            raise BadCompetition([problem(TOML, f"submission.columns.{name}", message)])


def _status(competition: Competition, paths: set[str]) -> CompetitionStatus:
    """Whether the answers exist. Also checks the files that must exist with them."""
    if competition.is_measured:
        return _status_of_measured(paths)
    answers = f"private/{competition.answers.file}"
    if answers in paths:
        if SAMPLE_FILE not in paths:
            message = f"is missing, though {answers} is there: it has the ids of a submission"
            raise BadCompetition([problem(SAMPLE_FILE, "", message)])
        return CompetitionStatus.READY
    others = sorted(path for path in paths if path.startswith(f"{FOLDERS[1]}/"))
    if others:
        message = f"is missing, though {others[0]} is there; [answers] file names the answers"
        raise BadCompetition([problem(answers, "", message)])
    return CompetitionStatus.NEEDS_DATA


def _status_of_measured(paths: set[str]) -> CompetitionStatus:
    """Always ready. Files that only grading needs must not exist."""
    problems = [
        problem(path, "", "has no use here: the metric is measured, and nothing is submitted")
        for path in sorted(paths)
        if path in (METRIC_FILE, SAMPLE_FILE, LEADERBOARD) or path.startswith(f"{FOLDERS[1]}/")
    ]
    if problems:
        raise BadCompetition(problems)
    return CompetitionStatus.READY


def _check_description(text: str | None, status: CompetitionStatus) -> None:
    if text is None and status is CompetitionStatus.READY:
        raise BadCompetition([problem(DESCRIPTION, "", "is missing: agents read the task in it")])
    if text is not None and not text.removeprefix("\ufeff").strip():  # a byte order mark
        raise BadCompetition([problem(DESCRIPTION, "", "is empty: agents read the task in it")])


def check_nothing_leaks(copies: Collection[StagedFile]) -> None:
    """Refuse a public file with the bytes of a private one, by BadCompetition."""
    private = {c.sha256: c.path for c in copies if c.path.startswith("private/") and c.bytes}
    problems = [
        problem(c.path, "", f"has the same bytes as {private[c.sha256]}: agents would see them")
        for c in copies
        if c.path.startswith("public/") and c.sha256 in private
    ]
    if problems:
        raise BadCompetition(problems)


def _text(staging: Path, copies: dict[str, StagedFile], name: str) -> str | None:
    """A staged file's text; None if there is no such file."""
    if name not in copies:
        return None
    try:
        return (staging / name).read_bytes().decode()
    except UnicodeDecodeError as error:
        raise BadCompetition([problem(name, "", f"is not UTF-8 (byte {error.start})")]) from None
