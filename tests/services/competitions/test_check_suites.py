"""What is wrong with suites.toml, and which folders a check means."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.errors import NotFound
from app.services.competitions.check_competition import check_suites
from app.services.competitions.folders import folders_in

SUITES = """
[suites.small]
title = "Two"
competitions = ["a", "b"]
[suites.large]
title = "Two others"
competitions = ["a", "c"]
"""


def test_no_file_is_no_problem(tmp_path: Path) -> None:
    assert check_suites(tmp_path, set()) == ()


def test_a_competition_without_a_folder_is_named_with_its_suite(tmp_path: Path) -> None:
    (tmp_path / "suites.toml").write_text(SUITES)

    found = check_suites(tmp_path, {"a"})

    assert [(one["key"], one["message"]) for one in found] == [
        ("small", "there is no competition folder 'b'"),
        ("large", "there is no competition folder 'c'"),
    ]


def test_a_file_that_cannot_be_read_says_where(tmp_path: Path) -> None:
    (tmp_path / "suites.toml").write_bytes(b"[suites]\n# \xff")

    (found,) = check_suites(tmp_path, set())

    assert found == {"file": "suites.toml", "key": "", "message": "is not UTF-8 (byte 11)"}


def test_only_folders_with_a_declaration_are_competitions(tmp_path: Path) -> None:
    for slug in ("b", "a"):
        (tmp_path / slug).mkdir()
        (tmp_path / slug / "competition.toml").touch()
    (tmp_path / "notes").mkdir()

    assert folders_in(tmp_path, []) == [tmp_path / "a", tmp_path / "b"]
    assert folders_in(tmp_path, ["b"]) == [tmp_path / "b"]
    with pytest.raises(NotFound, match="notes"):
        folders_in(tmp_path, ["a", "notes"])
