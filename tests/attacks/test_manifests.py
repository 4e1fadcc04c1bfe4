"""Manifests that a stranger wrote: refused by their first mistake, without much memory."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from app.errors import MOST_PROBLEMS, BadCompetition
from app.preparation.manifest import (
    ListedFile,
    Manifest,
    listed_files,
    require_as_listed,
    root_digest,
)
from app.services.competitions.import_folder import MAX_ARCHIVED_MANIFEST
from tests.api.conftest import Podium
from tests.attacks.test_imports import MEGABYTE, peak_bytes

HEAD = {
    "competition": "a", "prepared_at": "", "grading_only": False, "root": "", "source": {},
    "made_by": {}, "self_test": {},
}  # fmt: skip
MANY = 2 * MEGABYTE


def write(folder: Path, **parts: str) -> None:
    """A manifest whose other parts are as this JSON."""
    texts = {**{name: json.dumps(value) for name, value in HEAD.items()}, "files": "[]", **parts}
    document = ",".join(f'"{name}":{text}' for name, text in texts.items())
    (folder / "manifest.json").write_text(f"{{{document}}}")


def keys(count: int) -> str:
    return "{" + ",".join(f'"{number:x}":1' for number in range(count)) + "}"


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"files": "[" + "[]," * (MANY // 3) + "1]"}, "files.0"),
        ({"files": "[" + "{}," * (MANY // 3) + "1]"}, "files.0.name"),
        ({"files": f"[{keys(200_000)}]"}, "files.0.*a key that a manifest does not have"),
        ({"made_by": keys(200_000)}, "made_by.*not a text"),
        ({"more": "1"}, "a key that a manifest does not have"),
        ({f"more{number}": "1" for number in range(200_000)}, "a key that a manifest does not"),
    ],
    ids=["lists", "objects", "keys of a file", "made_by", "a key", "keys"],
)
def test_the_first_mistake_is_told(tmp_path: Path, parts: dict[str, str], reason: str) -> None:
    write(tmp_path, **parts)
    before = peak_bytes()
    with pytest.raises(BadCompetition, match=reason) as refused:
        require_as_listed(tmp_path)

    assert len(str(refused.value)) < 200
    assert peak_bytes() - before < 200 * MEGABYTE  # the lists took 1,600


def test_a_hundred_differences_are_told(tmp_path: Path) -> None:
    files = [ListedFile(name=str(number), bytes=1, sha256="0" * 64) for number in range(1_000)]
    manifest = Manifest.model_validate({**HEAD, "root": root_digest(files), "files": files})
    (tmp_path / "manifest.json").write_text(manifest.model_dump_json())
    with pytest.raises(BadCompetition) as refused:
        require_as_listed(tmp_path)

    assert len(refused.value.problems) == MOST_PROBLEMS
    assert refused.value.problems[0]["message"] == "is missing: the manifest lists it"


def test_a_name_that_is_no_text_is_in_no_manifest(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.csv")).write_text("x")
    with pytest.raises(BadCompetition) as refused:
        listed_files(tmp_path)

    assert refused.value.problems[0]["message"] == "has a name that is not UTF-8"


def test_an_archive_with_a_large_manifest_is_refused(podium: Podium) -> None:
    folder = podium.folder()
    (folder / "manifest.json").write_text(" " * (MAX_ARCHIVED_MANIFEST + 1))
    answer = podium.send_folder(folder)

    assert answer.status_code == 422
    assert answer.json()["problems"] == [
        {
            "file": "manifest.json",
            "key": "",
            "message": f"is larger than {MAX_ARCHIVED_MANIFEST} bytes",
        }
    ]
