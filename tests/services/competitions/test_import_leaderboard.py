"""A new leaderboard makes a new version of the same files, and of no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.domain.medals import MedalRule
from app.errors import BadCompetition, DamagedFile
from app.importers.kaggle_leaderboard import read_kaggle_leaderboard
from app.services.competitions.import_folder import import_folder
from app.services.competitions.import_leaderboard import replace_leaderboard
from app.services.runtime.context import Context
from app.storage.queries import competitions, version_files
from tests.factories import write_competition

ANSWERS = "private/answers.csv"


@pytest.fixture
def imported(context: Context, tmp_path: Path) -> Path:
    """The directory of an imported version."""
    folder = write_competition(tmp_path / "bikes")
    import_folder(context, folder)
    (directory,) = (context.settings.data_dir / "competitions" / "bikes").iterdir()
    return directory


def replace(context: Context, tmp_path: Path) -> None:
    board = tmp_path / "board.csv"
    board.write_text("TeamId,Score\n" + "".join(f"{n},{n / 100}\n" for n in range(1, 400)))
    replace_leaderboard(context, "bikes", read_kaggle_leaderboard(board), "https://example.org")


def current(context: Context) -> tuple[int, dict[str, str]]:
    """The number of the current version, and the digests of its files."""
    with context.database.read() as session:
        version = competitions.current_version(session, "bikes")
        assert version is not None
        files = version_files.all_files(session, version.id)
    return version.number, {file.path: file.sha256 for file in files}


def test_a_version_from_before_a_bound_gets_a_new_leaderboard(
    context: Context, tmp_path: Path
) -> None:
    pattern = ".*" + "|x" * 1000
    folder = write_competition(
        tmp_path / "bikes", columns={"target": {"kind": "text", "pattern": pattern}},
        metric="mean_levenshtein_error",
    )  # fmt: skip
    with pytest.raises(BadCompetition):
        import_folder(context, folder)
    import_folder(context, folder, is_stored=True)  # as a version that had no such bound

    replace(context, tmp_path)

    assert current(context)[0] == 2


@pytest.mark.parametrize("damage", ["other bytes", "lost"])
def test_damaged_answers_do_not_become_those_of_a_new_version(
    context: Context, imported: Path, tmp_path: Path, damage: str
) -> None:
    number, before = current(context)
    file = imported / ANSWERS
    rows = file.read_text().splitlines()
    file.unlink()
    if damage == "other bytes":
        head, *more = rows
        key, rest = more[0].split(",", 1)
        file.write_text("\n".join([head, f"{key},9{rest}", *more[1:]]) + "\n")

    with pytest.raises(DamagedFile, match=ANSWERS):
        replace(context, tmp_path)

    assert current(context) == (number, before)


def test_all_files_but_the_leaderboard_and_its_date_stay(
    context: Context, imported: Path, tmp_path: Path
) -> None:
    number, before = current(context)
    (imported / "public" / "put-there-by-hand.csv").write_text("id\n1\n")

    replace(context, tmp_path)

    after, files = current(context)
    assert after == number + 1
    assert files.keys() == before.keys()
    changed = {path for path, sha256 in files.items() if before[path] != sha256}
    assert changed == {"competition.toml", "leaderboard.csv"}


@pytest.mark.parametrize(
    "keys",
    [
        'leaderboard.source = "Kaggle"\nleaderboard.rule = "kaggle"\n"leaderboard" . teams = 9',
        r'leaderboard = { source = "Kagg\u007fle", teams = 9, rule = "kaggle" }',
        '\ufeffleaderboard = { source = "Kaggle", teams = 9, rule = "kaggle" }',
    ],
)
def test_a_toml_without_a_section_keeps_what_it_states(
    context: Context, tmp_path: Path, keys: str
) -> None:
    folder = write_competition(tmp_path / "bikes", leaderboard=None)
    toml = folder / "competition.toml"
    toml.write_text(f"{keys}\n{toml.read_text()}")
    import_folder(context, folder)

    replace(context, tmp_path)

    with context.database.read() as session:
        version = competitions.current_version(session, "bikes")
    assert version is not None
    entry = context.catalogue.entry(version)
    declared = entry.competition.leaderboard
    assert declared is not None
    stated = (declared.source.replace("\x7f", ""), declared.rule, declared.teams)
    assert stated == ("Kaggle", MedalRule.KAGGLE, None)
    assert entry.leaderboard is not None
    assert entry.leaderboard.teams == 399


@pytest.mark.parametrize(
    "section", ["[leaderboard]", "[ leaderboard ]  # of 2024", '["leaderboard"]']
)
def test_a_toml_as_another_program_writes_it_keeps_its_texts(
    context: Context, tmp_path: Path, section: str
) -> None:
    folder = write_competition(tmp_path / "bikes")
    toml = folder / "competition.toml"
    text = toml.read_text().replace("[leaderboard]", section)
    text = re.sub("(?m)^title = .*$", 'title = "Bikes\u2028and\x85roads"', text)
    toml.write_bytes(text.replace("\n", "\r\n").encode())
    import_folder(context, folder)

    replace(context, tmp_path)

    with context.database.read() as session:
        version = competitions.current_version(session, "bikes")
    assert version is not None
    entry = context.catalogue.entry(version)
    assert entry.competition.title == "Bikes\u2028and\x85roads"
    assert entry.leaderboard is not None
    assert entry.leaderboard.teams == 399
