"""`podium check`: what is wrong with a folder or a suite."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.cli.conftest import Command
from tests.factories import write_competition


def test_check_passes_over_good_folders_and_names_what_is_wrong(
    podium: Command, tiny: Path
) -> None:
    good = podium("check")
    shutil.copytree(tiny, tiny.parent / "other")
    (tiny.parent / "other" / "private" / "answers.csv").write_text("id,target\nr1,x\n")
    bad = podium("check")

    assert good.returncode == 0
    assert "tiny: ok, 20 rows" in good.stdout
    assert bad.returncode == 1
    assert "other: private/answers.csv" in bad.stderr


def test_check_counts_usages_as_the_grader_reads_them(podium: Command, tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "here" / "tiny")
    answers = folder / "private" / "answers.csv"
    header, *rows = answers.read_text().splitlines()
    place = header.split(",").index("Usage")
    cells = [row.split(",") for row in rows]
    rows = [
        ",".join([*row[:place], f" {row[place].upper()} ", *row[place + 1 :], "1 2 " * 50_000])
        for row in cells
    ]
    answers.write_text("\n".join([f"{header},note", *rows[:7], " ", *rows[7:]]))

    done = podium("check", folder)

    assert done.returncode == 0, done.stderr
    assert "10 private, 10 public" in done.stdout


def test_check_says_one_row_and_one_team(podium: Command, tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "here" / "one", rows=1, usage=None, leaderboard=[0.5])

    done = podium("check", folder)

    assert done.returncode == 0, done.stderr
    assert "one: ok, 1 row\n" in done.stdout
    assert "human leaderboard: 1 team;" in done.stdout


def test_check_refuses_a_suite_of_unknown_competitions(podium: Command, tiny: Path) -> None:
    suites = '[suites.mine]\ntitle = "Mine"\ncompetitions = ["tiny", "nowhere"]\n'
    (tiny.parent / "suites.toml").write_text(suites)

    done = podium("check")

    assert done.returncode == 1
    assert "'nowhere'" in done.stderr


def test_check_tells_suites_in_another_encoding(podium: Command, tiny: Path) -> None:
    (tiny.parent / "suites.toml").write_bytes(b"title = '\xe9'")

    done = podium("check")

    assert done.returncode == 1
    assert "suites.toml: is not UTF-8 (byte 9)" in done.stderr
