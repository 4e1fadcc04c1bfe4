"""Which folder a name or a path on the command line means."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.bundled import bundled
from app.errors import Conflict, NotFound
from app.services.competitions.folders import competition_folder

BUNDLED = "leaf-classification"


def folder(parent: Path, slug: str) -> Path:
    made = parent / slug
    made.mkdir(parents=True)
    (made / "competition.toml").write_text("")
    return made


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """PODIUM_COMPETITIONS_DIR, while the current directory is another."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return tmp_path / "competitions"


def test_a_name_is_a_folder_of_the_configured_directory_or_a_bundled_one(configured: Path) -> None:
    own = folder(configured, "own")

    assert competition_folder(configured, "own") == own
    assert competition_folder(configured, BUNDLED) == bundled("competitions") / BUNDLED


def test_a_name_is_at_last_a_folder_here(configured: Path) -> None:
    here = folder(Path.cwd(), "here-only")

    assert competition_folder(configured, "here-only") == here


def test_a_text_with_a_slash_is_a_path(configured: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = folder(Path.cwd(), BUNDLED)

    assert competition_folder(configured, f"./{BUNDLED}") == here
    monkeypatch.chdir(here)
    assert competition_folder(configured, ".") == here
    with pytest.raises(NotFound, match=r"no competition folder .*absent with a competition\.toml"):
        competition_folder(configured, "./absent")


def test_a_name_that_means_two_folders_is_refused(configured: Path) -> None:
    own, here = folder(configured, "twice"), folder(Path.cwd(), "twice")

    with pytest.raises(Conflict, match=r"Write \./twice or") as refused:
        competition_folder(configured, "twice")

    assert str(own) in refused.value.detail
    assert str(here) in refused.value.detail


def test_the_places_that_were_looked_at_are_told(configured: Path) -> None:
    with pytest.raises(NotFound) as refused:
        competition_folder(configured, "absent")

    for place in (configured, bundled("competitions"), Path.cwd()):
        assert str(place) in refused.value.detail
