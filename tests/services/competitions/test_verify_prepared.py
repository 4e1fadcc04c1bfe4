"""What is different from a manifest is damage; what only changed around it is a note."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app import __version__
from app.errors import NotFound
from app.preparation.manifest import (
    FILE,
    Manifest,
    libraries,
    listed_files,
    root_digest,
    write_manifest,
)
from app.regular_file import file_digest
from app.services.competitions.prepare import described
from app.services.competitions.verify_prepared import VerifiedPreparation, verify_prepared


@dataclass
class Prepared:
    """A folder of the competition `bikes` with a manifest, and what it was made of."""

    root: Path
    source: dict[str, Any]

    def write(self, **over: Any) -> None:
        files = listed_files(self.place)
        made_by = {"podium": __version__, **libraries()}
        made_by["prepare.py"] = file_digest(self.folder / "prepare.py")[1]
        write_manifest(self.place, Manifest(**{
            "competition": "bikes", "prepared_at": "2026-03-01T12:00:00Z", "grading_only": False,
            "root": root_digest(files), "source": self.source, "made_by": made_by, "self_test": {},
            "files": files, **over,
        }))  # fmt: skip

    @property
    def place(self) -> Path:
        return self.root / "bikes"

    @property
    def folder(self) -> Path:
        return self.root / "folder"

    def verify(self, archive: Path | None = None) -> VerifiedPreparation:
        return verify_prepared(self.place, self.folder, archive)


@pytest.fixture
def prepared(tmp_path: Path) -> Prepared:
    for path, text in (("bikes/public/train.csv", "id\n1\n"), ("folder/prepare.py", "x = 1\n")):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(text)
    with zipfile.ZipFile(tmp_path / "bikes.zip", "w") as archive:
        archive.writestr("train.csv", "id\n1\n")
    return Prepared(tmp_path, described(tmp_path / "bikes.zip"))


def test_a_folder_is_whole_as_long_as_every_byte_is_as_listed(prepared: Prepared) -> None:
    prepared.write()
    found = prepared.verify(prepared.root / "bikes.zip")
    assert (found.is_whole, found.files, found.notes, found.slug) == (True, 1, (), "bikes")

    (prepared.place / "public" / "train.csv").write_text("id\n2\n")
    (prepared.place / "new").touch()
    found = prepared.verify()
    assert not found.is_whole
    assert (found.differences.changed, found.differences.extra, found.damage) == (
        {"public/train.csv": "has other bytes"}, ("new",), (),
    )  # fmt: skip


def test_another_archive_is_damage_and_a_source_of_another_kind_is_not_compared(
    prepared: Prepared,
) -> None:
    prepared.write()
    archive = prepared.root / "bikes.zip"
    with zipfile.ZipFile(archive, "w") as other:
        other.writestr("train.csv", "id\n2\n")
    (damage,) = prepared.verify(archive).damage
    assert damage == f"{archive} is not the archive of which these files were made"
    (prepared.place / FILE).unlink()
    prepared.write(source={"kind": "folder", "files": 1, "bytes": 5})
    assert prepared.verify(archive).is_whole


def test_changed_code_is_a_note_with_both_digests(prepared: Prepared) -> None:
    prepared.write()
    then = file_digest(prepared.folder / "prepare.py")[1]
    (prepared.folder / "prepare.py").write_text("x = 2\n")
    now = file_digest(prepared.folder / "prepare.py")[1]

    found = prepared.verify()
    assert found.is_whole
    assert found.notes == (f"made with prepare.py {then[:12]}, here is {now[:12]}",)
    (prepared.folder / "prepare.py").unlink()
    assert prepared.verify().notes == ()


def test_a_changed_manifest_is_damage_and_a_missing_one_is_told(prepared: Prepared) -> None:
    with pytest.raises(NotFound, match=r"has no manifest\.json, so nobody knows"):
        prepared.verify()
    prepared.write(root="0" * 64)
    found = prepared.verify()
    assert (found.is_whole, found.files) == (False, 0)
    assert "its root digest is not that of the files that it lists" in found.damage[0]
    with pytest.raises(NotFound, match="nothing is prepared there"):
        verify_prepared(prepared.root / "nowhere", prepared.folder, None)
