"""The public files of a competition over HTTP: their bytes, their names, their pages."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.api.conftest import Podium


def test_public_files_come_byte_for_byte_with_etag_and_range(podium: Podium, tiny: Path) -> None:
    original = (tiny / "public" / "train.csv").read_bytes()
    url = f"/v1/competitions/{tiny.name}/files/train.csv"

    whole = podium.admin.get(url)
    part = podium.admin.get(url, headers={"Range": "bytes=3-9"})
    known = podium.admin.get(url, headers={"If-None-Match": whole.headers["ETag"]})
    beyond = podium.admin.get(url, headers={"Range": "bytes=99999-"})

    assert whole.content == original
    assert whole.headers["ETag"] == f'"{hashlib.sha256(original).hexdigest()}"'
    assert (part.status_code, part.content) == (206, original[3:10])
    assert known.status_code == 304
    assert beyond.status_code == 416


@pytest.mark.parametrize(
    "name",
    ["../private/answers.csv", "..%2fprivate%2fanswers.csv", "%2e%2e/competition.toml",
     "/etc/passwd", "answers.csv", "train.csv%00"],
)  # fmt: skip
def test_no_name_leads_out_of_the_public_files(podium: Podium, tiny: Path, name: str) -> None:
    response = podium.admin.get(f"/v1/competitions/{tiny.name}/files/{name}")

    assert response.status_code == 404


def test_a_file_that_is_not_there_is_told_with_those_that_are(podium: Podium, tiny: Path) -> None:
    problem = podium.admin.get(f"/v1/competitions/{tiny.name}/files/test.csv").json()

    assert "sample_submission.csv, train.csv" in problem["detail"]


def test_files_come_in_pages_as_every_list(podium: Podium, tiny: Path) -> None:
    address = f"/v1/competitions/{tiny.name}/files"
    whole = podium.admin.get(address).json()["items"]

    found, cursor = [], "0"
    while cursor is not None:
        answer = podium.admin.get(address, params={"limit": 1, "cursor": cursor})
        assert answer.status_code == 200, answer.text
        page = answer.json()
        assert len(page["items"]) == 1
        found += page["items"]
        cursor = page["next_cursor"]

    assert [one["name"] for one in found] == ["sample_submission.csv", "train.csv"]
    assert found == whole
    assert podium.admin.get(address, params={"cursor": 2}).json()["items"] == []
    assert podium.admin.get(address, params={"limit": 2}).json()["next_cursor"] is None
    assert podium.admin.get(address, params={"cursor": "x"}).status_code == 422
