"""Make a competition folder from MLE-bench's prepared data.

MLE-bench's data directory has `<id>/prepared/{public,private}`. The folder gets the declaration,
the README and the metric of the bundled folder, the public files, the answers file that the
declaration names, and a leaderboard. No code of MLE-bench is loaded.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from app.domain.competition import TOML, Competition, parse_competition
from app.domain.read_leaderboard import FILE as LEADERBOARD
from app.domain.wording import counted
from app.errors import BadCompetition
from app.importers import natural_questions
from app.importers.checksums import parse_checksums
from app.importers.json_text import quoted
from app.importers.leaderboard import checked_leaderboard
from app.importers.names import GIT_LFS, problem
from app.preparation.raw_names import names_below, require_no_way_out
from app.preparation.shared_bytes import share

PublicFiles = Literal["all", "sample"]
DESCRIPTION, SAMPLE = "description.md", "sample_submission.csv"
# Names of the sample submission there; if public/ has none, private/ may have it.
_SAMPLE_NAME = re.compile(r"(kaggle_)?sample_?submission(_null)?\.csv|randompredictions\.csv", re.I)
DOJO_PREPARED, DOJO_BOARD = "data", "info/private_leaderboard.csv"
DOJO_ANSWERS = "test_answer.csv"  # of every competition of MLE-Dojo

_STATED = ("teams", "gold", "silver", "bronze", "median", "decimals")
_LINES = re.compile(rf"^(?:{'|'.join(_STATED)}) = .*\n", re.M)

# Answers in a format that cannot be declared: the file in MLE-bench, and its conversion.
_CONVERTERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "tensorflow2-question-answering": ("test.jsonl", natural_questions.answers_csv),
}


@dataclass(frozen=True, slots=True)
class Sources:
    """The data directory; and a checkout or a folder of leaderboards, if given.

    `prepared` is the directory of a competition that has public/ and private/.
    """

    data: Path
    repo: Path | None = None
    boards: Path | None = None
    public: PublicFiles = "all"
    prepared: str = "prepared"


@dataclass(slots=True)
class Assembled:
    """An assembled folder, with notes for the person who imports it."""

    folder: Path
    notes: list[str] = field(default_factory=list)


def is_prepared(sources: Sources, slug: str) -> bool:
    """Whether the data directory has prepared data of a competition."""
    return prepared_directory(sources, slug).is_dir()


def prepared_directory(sources: Sources, slug: str) -> Path:
    """The directory of a competition's prepared answers."""
    return sources.data / slug / sources.prepared / "private"


def assemble(bundled: Path, sources: Sources, into: Path) -> Assembled:
    """Assemble a competition folder in `into` from the bundled folder and the prepared data.

    Raises:
        BadCompetition: a file is missing, is a Git-LFS pointer, has another checksum, or is a link
            that leads out of the prepared data or the bundled folder.
    """
    slug = bundled.name
    competition = parse_competition(slug, (bundled / TOML).read_text(encoding="utf-8"))
    prepared = sources.data / slug / sources.prepared
    for part in ("public", "private"):
        require_no_way_out(prepared / part, prepared)
    require_no_way_out(bundled, bundled)
    folder = into / slug
    (folder / "public").mkdir(parents=True)
    (folder / "private").mkdir()
    assembled = Assembled(folder)
    for name in (TOML, "README.md", "metric.py"):
        if (bundled / name).is_file():
            shutil.copyfile(bundled / name, folder / name)
    _check_sums(slug, sources, prepared, assembled)
    sample = find_sample(prepared)
    if sample is None:
        raise BadCompetition([problem("public", "", "there is no sample submission")])
    if sources.public == "all":
        _link_tree(prepared / "public", folder / "public", skip=sample.name)
    share(_not_a_pointer(sample), folder / "public" / SAMPLE)
    (folder / "private" / competition.answers.file).write_bytes(answers_of(competition, prepared))
    _describe(bundled, prepared, competition, folder)
    _add_board(competition, sources, folder, assembled)
    return assembled


def find_sample(prepared: Path) -> Path | None:
    """The sample submission, under any of its names, in public/ or private/."""
    for folder in ("public", "private"):
        for file in sorted((prepared / folder).glob("*.csv")):
            if _SAMPLE_NAME.fullmatch(file.name) and file.is_file():
                return file
    return None


def answers_of(competition: Competition, prepared: Path) -> bytes:
    """The bytes of the answers file.

    Raises:
        BadCompetition: the file is missing, is a Git-LFS pointer, or cannot be converted.
    """
    name, convert = _CONVERTERS.get(competition.slug, (competition.answers.file, bytes))
    file = prepared / "private" / name
    if not file.is_file() and (prepared / "private" / DOJO_ANSWERS).is_file():
        file = prepared / "private" / DOJO_ANSWERS
    if not file.is_file():
        raise BadCompetition([problem(f"private/{name}", "", "the file is missing")])
    try:
        return convert(_not_a_pointer(file).read_bytes())
    except ValueError as error:
        raise BadCompetition([problem(f"private/{name}", "", str(error))]) from None


def _not_a_pointer(file: Path) -> Path:
    """Return the file; raise BadCompetition if it is only a Git-LFS pointer."""
    with file.open("rb") as stream:
        if stream.read(len(GIT_LFS)) == GIT_LFS:
            message = "this is a Git-LFS pointer, not the file: run `git lfs pull` in the checkout"
            raise BadCompetition([problem(file.name, "", message)])
    return file


def _link_tree(source: Path, target: Path, *, skip: str) -> None:
    made: set[Path] = set()
    for name in names_below(source):
        if name in (skip, SAMPLE, DESCRIPTION):
            continue
        if not (source / name).is_file():
            raise BadCompetition([problem(name, "", "is not a plain file")])
        if (folder := (target / name).parent) not in made:
            folder.mkdir(parents=True, exist_ok=True)
            made.add(folder)
        share(source / name, target / name)


def _describe(bundled: Path, prepared: Path, competition: Competition, folder: Path) -> None:
    for file in (bundled / DESCRIPTION, prepared / "public" / DESCRIPTION):
        if file.is_file():
            shutil.copyfile(file, folder / DESCRIPTION)
            return
    columns = ", ".join((*competition.form.id, *competition.form.columns))
    text = (
        f"# {competition.title}\n\nSubmit a CSV with the columns {columns} and one row for every "
        f"id of `sample_submission.csv`. Submissions are scored by `{competition.metric.name}`.\n"
    )
    (folder / DESCRIPTION).write_text(text, encoding="utf-8")


def _add_board(
    competition: Competition, sources: Sources, folder: Path, assembled: Assembled
) -> None:
    slug, file = competition.slug, None
    if sources.boards is not None:
        file = sources.boards / f"{slug}.csv"
    elif sources.repo is not None and sources.prepared == DOJO_PREPARED:
        file = sources.repo / "mledojo" / "competitions" / slug / DOJO_BOARD
    elif sources.repo is not None:
        file = _in_repo(sources.repo, slug) / LEADERBOARD
    if file is None or not file.is_file():
        if file is not None:
            assembled.notes.append(f"no leaderboard in {file.name}: medal lines from {TOML}")
        return
    scores = _scores(_not_a_pointer(file))
    lines = [score for score in scores if score.strip()]
    if len(lines) < len(scores):
        without = len(scores) - len(lines)
        were = "was" if without == 1 else "were"
        assembled.notes.append(f"{counted(without, 'team')} without a score {were} left out")
    (folder / LEADERBOARD).write_text("\n".join(["score", *lines, ""]), encoding="utf-8")
    try:
        checked_leaderboard(competition, (folder / LEADERBOARD).read_text(encoding="utf-8"))
    except BadCompetition as error:
        keys = {problem["key"].rpartition(".")[2] for problem in error.problems}
        if not keys <= set(_STATED):
            raise
        # The board is from another time than the lines, and replaces them.
        assembled.notes.append(f"the leaderboard has other {', '.join(sorted(keys))} than {TOML}")
        text = (folder / TOML).read_text(encoding="utf-8")
        (folder / TOML).write_text(_LINES.sub("", text), encoding="utf-8")


def _scores(file: Path) -> list[str]:
    """The scores of a board, empty for a team without one."""
    try:
        reader = csv.DictReader(io.StringIO(file.read_text(encoding="utf-8-sig")))
        scores = [row.get("score") or "" for row in reader]
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadCompetition([problem(LEADERBOARD, "", f"is not CSV: {error}")]) from None
    if odd := next((score for score in scores if len(score.splitlines()) > 1), None):
        raise BadCompetition([problem(LEADERBOARD, "score", f"{quoted(odd)} is not one score")])
    return scores


def _in_repo(repo: Path, slug: str) -> Path:
    return repo / "mlebench" / "competitions" / slug


def _check_sums(slug: str, sources: Sources, prepared: Path, assembled: Assembled) -> None:
    """Compare the files with the `checksums.yaml` of the checkout."""
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
    assembled.notes.append(f"{checked} files have the MD5 sums of checksums.yaml")


def _md5(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
