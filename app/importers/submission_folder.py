"""Read a folder of raw outputs: MLE-bench's `submission.jsonl`, and the files that it names.

Each line of a `submission.jsonl` is an object with `competition_id` and `submission_path`. The path
is null if the agent made no file. It was often written on another machine, so the file is searched
for inside the folder, by the end of the path.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from app.errors import Invalid
from app.importers.json_text import Pairs, parse_json, shortened, storable
from app.regular_file import read_regular

LIST = "submission.jsonl"
MOST_LINES = 100_000
LONGEST_SLUG = 200
DEEPEST = 50  # parts of a path below the folder


@dataclass(frozen=True, slots=True)
class SubmittedFile:
    """One line of a list: an attempt at a competition, and its file if it made one.

    `group` is the folder of the list, empty for the folder itself; `place` is the list and the
    line, `document` the unchanged line. `is_missing` says that the line names a file that is not in
    the folder.
    """

    group: str
    place: str
    competition: str
    seed: int
    file: Path | None
    document: dict[str, Any]
    is_missing: bool = False


@dataclass(frozen=True, slots=True)
class SubmissionFolder:
    """The attempts of a folder, and a text for each whose file is missing."""

    attempts: list[SubmittedFile]
    problems: list[str]


def read_submission_folder(folder: Path, first_seed: int = 0) -> SubmissionFolder:
    """Read the list of a folder, or else the lists of its subfolders by name, as run groups.

    The first attempt at a competition gets `first_seed`, the next one the next seed. A line whose
    file is not in the folder is a problem, and an attempt that `is_missing`.

    Raises:
        Invalid: there is no list, all are empty, or one cannot be read; the error names the line.
    """
    root = folder.resolve()
    lists = [root / LIST] if (root / LIST).is_file() else sorted(root.glob(f"*/{LIST}"))
    if not lists:
        raise Invalid(
            f"There is no {LIST} in {folder} or in a folder directly in it. Each of its lines is "
            '{"competition_id": ..., "submission_path": ...}.'
        )
    found = SubmissionFolder([], [])
    seeds: dict[str, int] = {}
    for path in lists:
        group = path.parent.relative_to(root).as_posix().removeprefix(".")
        for number, entry in _lines(path):
            slug, place = entry["competition_id"], f"{LIST}:{number}"
            seed = seeds.get(slug, first_seed)
            seeds[slug] = seed + 1
            named = entry.get("submission_path")
            file = None if named is None else _inside(root, path.parent, named)
            is_missing = named is not None and file is None
            if is_missing:
                where = f"{group}/{place}" if group else place
                shown = shortened(named)
                found.problems.append(f"{where}: {slug} seed {seed}: {shown} is not in the folder")
            attempt = SubmittedFile(group, place, slug, seed, file, storable(entry), is_missing)
            found.attempts.append(attempt)
    if not found.attempts:
        raise Invalid(f"No {LIST} in {folder} has a line, so there is nothing to import.")
    return found


def _read(path: Path) -> bytes:
    try:
        return read_regular(path)
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}.") from None


def _lines(path: Path) -> list[tuple[int, dict[str, Any]]]:
    found: list[tuple[int, dict[str, Any]]] = []
    for number, line in enumerate(_read(path).splitlines(), start=1):
        if not line.strip():
            continue
        if len(found) == MOST_LINES:
            raise Invalid(f"{path.name}: it has more than {MOST_LINES} lines.")
        entry = parse_json(
            line, lambda at, why, number=number: _refused(path, number, f"{at}: {why}"),  # type: ignore[misc]
            pairs=_unique, constant=_no_constant,
        )  # fmt: skip
        if not isinstance(entry, dict):
            raise _refused(path, number, "an object is expected")
        slug, named = entry.get("competition_id"), entry.get("submission_path")
        if not isinstance(slug, str) or not 0 < len(slug) <= LONGEST_SLUG:
            raise _refused(path, number, "competition_id is not the name of a competition")
        if named is not None and (not isinstance(named, str) or not named.strip()):
            raise _refused(path, number, "submission_path is neither a path nor null")
        found.append((number, entry))
    return found


def _inside(root: Path, beside: Path, named: str) -> Path | None:
    """The file in the folder that the longest end of the path names; None if there is none."""
    if "\x00" in named:
        return None
    parts = [part for part in PurePosixPath(named).parts if part not in ("/", ".", "..")]
    parts = parts[-DEEPEST:]  # each end is looked up, part by part
    for start in range(len(parts)):
        for base in (beside, root):
            try:
                path = base.joinpath(*parts[start:]).resolve()
                if path.is_relative_to(root) and path.is_file():
                    return path
            except (OSError, RuntimeError, ValueError):
                continue  # a name that is too long, a circle of links, half of a surrogate pair
    return None


def _unique(pairs: Pairs) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key is there twice")
    return dict(pairs)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _refused(path: Path, line: int, why: str) -> Invalid:
    return Invalid(f"{path.parent.name}/{path.name} is refused at line {line}: {why}.")
