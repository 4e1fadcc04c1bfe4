"""MLE-bench's prepared data into a competition folder of ours.

Its data directory has `<id>/prepared/{public,private}`. Ours is put together from the competition's
own folder (declaration, README, metric), the public files, the one answers file that the
declaration names, and a leaderboard. No code of theirs is ever loaded.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from app.domain.competition import TOML, Competition, parse_competition
from app.domain.read_leaderboard import FILE as LEADERBOARD
from app.errors import BadCompetition
from app.importers import natural_questions
from app.importers.checksums import parse_checksums
from app.importers.leaderboard import checked_leaderboard
from app.importers.names import problem

PublicFiles = Literal["all", "sample"]
DESCRIPTION, SAMPLE = "description.md", "sample_submission.csv"
# What the sample submission is called there; where public/ has none, private/ may.
_SAMPLE_NAME = re.compile(r"(kaggle_)?sample_?submission(_null)?\.csv|randompredictions\.csv", re.I)
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"

_STATED = ("teams", "gold", "silver", "bronze", "median")
_LINES = re.compile(rf"^(?:{'|'.join(_STATED)}) = .*\n", re.M)

# Answers in a format that no declaration describes: the file there, and what makes ours from it.
_CONVERTERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "tensorflow2-question-answering": ("test.jsonl", natural_questions.answers_csv),
}


@dataclass(frozen=True, slots=True)
class Sources:
    """Where things are: the data directory, and a checkout or a folder of boards, if given."""

    data: Path
    repo: Path | None = None
    boards: Path | None = None
    public: PublicFiles = "all"


@dataclass(slots=True)
class Assembled:
    """What was put together, and what a reader should know about it."""

    folder: Path
    notes: list[str] = field(default_factory=list)


def is_prepared(sources: Sources, slug: str) -> bool:
    """Whether the data directory has prepared data of a competition."""
    return (sources.data / slug / "prepared" / "private").is_dir()


def assemble(ours: Path, sources: Sources, into: Path) -> Assembled:
    """Put a competition folder together in `into`, from our folder and their prepared data.

    Raises:
        BadCompetition: a file is missing, is a Git-LFS pointer, or has another checksum.
    """
    slug = ours.name
    competition = parse_competition(slug, (ours / TOML).read_text(encoding="utf-8"))
    prepared = sources.data / slug / "prepared"
    folder = into / slug
    (folder / "public").mkdir(parents=True)
    (folder / "private").mkdir()
    done = Assembled(folder)
    for name in (TOML, "README.md", "metric.py"):
        if (ours / name).is_file():
            shutil.copyfile(ours / name, folder / name)
    _check_sums(slug, sources, prepared, done)
    sample = find_sample(prepared)
    if sample is None:
        raise BadCompetition([problem("public", "", "there is no sample submission")])
    if sources.public == "all":
        _link_tree(prepared / "public", folder / "public", leave=sample.name)
    _link(_real(sample), folder / "public" / SAMPLE)
    (folder / "private" / competition.answers.file).write_bytes(answers_of(competition, prepared))
    _describe(ours, prepared, competition, folder)
    _add_board(competition, sources, folder, done)
    return done


def find_sample(prepared: Path) -> Path | None:
    """The sample submission, under whatever name and in whichever of the two folders it is."""
    for place in ("public", "private"):
        for file in sorted((prepared / place).glob("*.csv")):
            if _SAMPLE_NAME.fullmatch(file.name):
                return file
    return None


def answers_of(competition: Competition, prepared: Path) -> bytes:
    """The bytes of our answers file.

    Raises:
        BadCompetition: theirs is missing, is a Git-LFS pointer, or cannot be converted.
    """
    name, convert = _CONVERTERS.get(competition.slug, (competition.answers.file, bytes))
    file = prepared / "private" / name
    if not file.is_file():
        raise BadCompetition([problem(f"private/{name}", "", "the file is missing")])
    try:
        return convert(_real(file).read_bytes())
    except ValueError as error:
        raise BadCompetition([problem(f"private/{name}", "", str(error))]) from None


def _real(file: Path) -> Path:
    """The file, unless Git LFS left only a pointer in its place."""
    with file.open("rb") as stream:
        if stream.read(len(_LFS_POINTER)) == _LFS_POINTER:
            message = "this is a Git-LFS pointer, not the file: run `git lfs pull` in the checkout"
            raise BadCompetition([problem(file.name, "", message)])
    return file


def _link_tree(source: Path, target: Path, *, leave: str) -> None:
    for directory, _, files in os.walk(source):
        within = target / Path(directory).relative_to(source)
        within.mkdir(parents=True, exist_ok=True)
        for name in files:
            if within == target and name in (leave, SAMPLE, DESCRIPTION):
                continue
            _link(Path(directory) / name, within / name)


def _link(source: Path, target: Path) -> None:
    """A second name for the file: the folder is only passed on, and public data may be huge."""
    try:
        os.link(source.resolve(), target)
    except OSError:
        shutil.copyfile(source, target)


def _describe(ours: Path, prepared: Path, competition: Competition, folder: Path) -> None:
    for file in (ours / DESCRIPTION, prepared / "public" / DESCRIPTION):
        if file.is_file():
            shutil.copyfile(file, folder / DESCRIPTION)
            return
    columns = ", ".join((*competition.form.id, *competition.form.columns))
    text = (
        f"# {competition.title}\n\nSubmit a CSV with the columns {columns} and one row for every "
        f"id of `sample_submission.csv`. Submissions are scored by `{competition.metric.name}`.\n"
    )
    (folder / DESCRIPTION).write_text(text, encoding="utf-8")


def _add_board(competition: Competition, sources: Sources, folder: Path, done: Assembled) -> None:
    slug, file = competition.slug, None
    if sources.boards is not None:
        file = sources.boards / f"{slug}.csv"
    elif sources.repo is not None:
        file = _in_repo(sources.repo, slug) / LEADERBOARD
    if file is None or not file.is_file():
        if file is not None:
            done.notes.append(f"no leaderboard in {file.name}: medal lines from {TOML}")
        return
    reader = csv.DictReader(io.StringIO(_real(file).read_text(encoding="utf-8-sig")))
    scores = [row.get("score") or "" for row in reader]
    lines = [score for score in scores if score.strip()]
    if len(lines) < len(scores):
        done.notes.append(f"{len(scores) - len(lines)} teams without a score were left out")
    (folder / LEADERBOARD).write_text("\n".join(["score", *lines, ""]), encoding="utf-8")
    try:
        checked_leaderboard(competition, (folder / LEADERBOARD).read_text(encoding="utf-8"))
    except BadCompetition as error:
        keys = {problem["key"].rpartition(".")[2] for problem in error.problems}
        if not keys <= set(_STATED):
            raise
        # The board is newer or older than the lines; it says all that they say.
        done.notes.append(f"the leaderboard has other {', '.join(sorted(keys))} than {TOML}")
        text = (folder / TOML).read_text(encoding="utf-8")
        (folder / TOML).write_text(_LINES.sub("", text), encoding="utf-8")


def _in_repo(repo: Path, slug: str) -> Path:
    return repo / "mlebench" / "competitions" / slug


def _check_sums(slug: str, sources: Sources, prepared: Path, done: Assembled) -> None:
    """Compare what is there with the checkout's `checksums.yaml`."""
    file = None if sources.repo is None else _in_repo(sources.repo, slug) / "checksums.yaml"
    if file is None or not file.is_file():
        return
    try:
        sums = parse_checksums(file.read_text(encoding="utf-8"))
    except ValueError:
        raise BadCompetition([problem("checksums.yaml", "", "it is not valid YAML")]) from None
    kept = [name for name in sums if sources.public == "all" or not name.startswith("public/")]
    problems = []
    for name in kept:
        path = prepared / name
        if path.is_file() and _md5(path) != sums[name]:
            problems.append(problem(name, "", "its MD5 sum is not that of checksums.yaml"))
    if problems:
        raise BadCompetition(problems)
    checked = sum((prepared / name).is_file() for name in kept)
    done.notes.append(f"{checked} files have the MD5 sums of checksums.yaml")


def _md5(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
