"""A folder is made beside its place, and whatever an interruption left is repaired or removed."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from app.errors import Conflict
from app.services.competitions.prepared_folder import partial_folder, remove_interrupted


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "prepared" / "bikes"


def made(folder: Path, text: str) -> None:
    folder.mkdir(parents=True)
    (folder / "file").write_text(text)


def test_nothing_is_left_of_a_folder_that_was_not_completed(target: Path) -> None:
    def fail() -> None:
        with partial_folder(target) as partial:
            (partial / "public").mkdir()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    assert names(target.parent) == []


def test_what_an_interruption_left_is_not_in_the_next_folder(target: Path) -> None:
    made(target.with_name("bikes.partial") / "public", "of before")
    (target.with_name("bikes.partial") / "file").touch()

    with partial_folder(target) as partial:
        assert names(partial) == []


def test_a_link_in_the_place_of_the_folder_is_refused(target: Path) -> None:
    """Where one led nowhere, `podium prepare` tried to make the folder for ever."""
    target.parent.mkdir()
    target.with_name("bikes.partial").symlink_to("nowhere")

    with pytest.raises(NotADirectoryError), partial_folder(target):
        pass


def test_two_processes_do_not_make_the_same_folder(target: Path) -> None:
    another = pytest.raises(Conflict, match="Another process is preparing bikes")
    with partial_folder(target), another, partial_folder(target):
        pass


def test_a_folder_that_the_process_before_removes_at_that_moment_is_made_again(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second process ended with a traceback, or shared the folder with a third one."""
    lock = fcntl.flock

    def removed_before(descriptor: int, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", lock)
        target.with_name("bikes.partial").rmdir()
        lock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", removed_before)
    with partial_folder(target) as partial:
        assert names(partial) == []


@pytest.mark.parametrize("has_new", [False, True])
def test_an_interrupted_replacement_leaves_one_complete_folder(target: Path, has_new: bool) -> None:
    made(target.with_name("bikes.old"), "of before")
    if has_new:
        made(target, "new")

    remove_interrupted(target)

    assert names(target.parent) == ["bikes"]
    assert (target / "file").read_text() == ("new" if has_new else "of before")


def test_a_folder_that_is_being_made_is_left_alone(target: Path) -> None:
    with partial_folder(target) as partial:
        (partial / "file").touch()

        remove_interrupted(target)

        assert names(partial) == ["file"]
