"""What is said of a suite whose archives are here, so that Kaggle is not asked for anything."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from app.downloads.partial_file import Identity, PartialFile
from app.importers.kaggle_source import KaggleSource
from app.preparation.manifest import FILE
from app.services.competitions.kaggle_archives import archive_place
from app.services.competitions.prepare import prepared_place
from app.services.competitions.suite_readiness import SuiteReadiness, suite_readiness
from app.settings import Settings

READS = """
def prepare_files(raw, out):
    raw.table("train.csv")
    raw.open("labels.json", within="labels.zip")
    raw.copy("test")
    raw.image("a.png")
    out.copy(raw)
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data", database_url="", blobs_url="")


def folder(tmp_path: Path, slug: str, text: str | None) -> Path:
    """A competition's folder with this prepare.py."""
    found = tmp_path / slug
    found.mkdir()
    if text is not None:
        (found / "prepare.py").write_text(text)
    return found


def downloaded(settings: Settings, slug: str, members: dict[str, int]) -> int:
    """Put a whole archive where downloads are; its length. Members are stored as they are."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, size in members.items():
            archive.writestr(name, b"x" * size)
    place, data = archive_place(settings.data_dir, slug), packed.getvalue()
    place.parent.mkdir(parents=True, exist_ok=True)
    file = PartialFile(place)
    file.begin(Identity(len(data), '"one"'))
    file.write(0, data)
    file.close()
    return len(data)


def ready(settings: Settings, *folders: Path) -> SuiteReadiness:
    nobody = object.__new__(KaggleSource)  # it has no credentials: a question would be an error
    return suite_readiness(settings, nobody, folders, print, print)


def test_the_smallest_archive_comes_first_and_what_has_none_last(
    settings: Settings, tmp_path: Path
) -> None:
    without, done, large, small = (
        folder(tmp_path, slug, None if slug == "without" else "x = 1\n")
        for slug in ("without", "done", "large", "small")
    )
    manifest = prepared_place(settings.data_dir, "done") / FILE
    manifest.parent.mkdir(parents=True)
    manifest.touch()
    lengths = [downloaded(settings, "small", {"a": 10}), downloaded(settings, "large", {"a": 90})]

    found = ready(settings, without, done, large, small)
    assert [(one.slug, one.state) for one in found.competitions] == [
        ("small", "ready"), ("large", "ready"), ("without", "no_prepare"), ("done", "prepared"),
    ]  # fmt: skip
    assert [one.archive for one in found.competitions] == [*lengths, None, None]
    # All of both archives is here; their members take 100 bytes unpacked.
    assert (found.missing, found.needed, found.speed, found.seconds) == (0, 100, None, None)
    assert "without has no prepare.py" in found.competitions[2].detail


def test_tables_are_the_members_that_prepare_py_names(settings: Settings, tmp_path: Path) -> None:
    members = {"train.csv": 1, "labels.zip": 2, "labels.json": 4, "test.zip": 8, "a.png": 16}
    for slug in ("reads", "plain"):
        downloaded(settings, slug, members)

    found = ready(settings, folder(tmp_path, "reads", READS), folder(tmp_path, "plain", "x = 1\n"))
    tables = {one.slug: one.tables for one in found.competitions}
    assert tables == {"reads": 1 + 2 + 8, "plain": None}
