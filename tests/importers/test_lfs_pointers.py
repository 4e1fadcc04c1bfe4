"""Git LFS pointers in place of files are told as such."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.errors import BadCompetition, Invalid
from app.importers.folder import ONE_DISK, stage_folder
from app.importers.run_groups import read_run_groups
from tests.factories import write_competition

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"


@pytest.mark.parametrize(
    "path", ["leaderboard.csv", "private/answers.csv", "public/sample_submission.csv"]
)
def test_a_pointer_in_a_competition_folder_is_named(tmp_path: Path, path: str) -> None:
    folder = write_competition(tmp_path / "tiny")
    (folder / path).write_bytes(POINTER)

    with pytest.raises(BadCompetition) as refused:
        stage_folder(folder, tmp_path / "staged", max_bytes=ONE_DISK)

    (problem,) = refused.value.problems
    assert problem["file"] == path
    assert "Git LFS pointer" in problem["message"]
    assert "git lfs pull" in problem["message"]


def test_a_pointer_in_place_of_run_groups_is_named() -> None:
    with pytest.raises(Invalid, match="Git LFS pointer, not the file: run `git lfs pull`"):
        read_run_groups(POINTER)
