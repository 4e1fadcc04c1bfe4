"""Files are in S3, and the copies of them on this machine's disk rot: they are fetched anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.conftest import Podium
from tests.attacks.conftest import metric, serving_from
from tests.factories import good_submission
from tests.s3 import S3Server, wait_for_listings
from tests.server import PodiumServer


@pytest.fixture
def server(s3: S3Server, tmp_path: Path) -> Iterator[PodiumServer]:
    """A server whose files are in S3."""
    with serving_from(s3, tmp_path) as server:
        yield server


def damage(file: Path) -> None:
    """Change the first decimal of a file, as a disk might."""
    data = bytearray(file.read_bytes())
    place = data.index(b".") + 1
    data[place] = ord("7") if data[place] != ord("7") else ord("2")
    mode = file.stat().st_mode
    file.chmod(0o600)
    file.write_bytes(data)
    file.chmod(mode)


@pytest.mark.parametrize("metric_py", [None, metric("return float(answers['target'].sum())")])
def test_cached_answers_that_rot_change_no_score(
    podium: Podium, server: PodiumServer, metric_py: str | None
) -> None:
    folder = podium.competition(metric_py=metric_py, leaderboard=None, usage=None)
    file = good_submission(folder, shift=0.5)
    first = podium.run(folder, "full").submit(file).json()
    server.stop()
    (answers,) = (server.data_dir / "cache").glob("graded/*/*/private/answers.csv")
    damage(answers)
    server.start()

    second = podium.run(folder, "full").submit(file).json()
    assert second["state"] == "graded"
    assert second["grade"]["score"] == first["grade"]["score"]


def test_a_cached_file_that_rots_is_fetched_anew(podium: Podium, server: PodiumServer) -> None:
    folder = podium.competition()
    file = good_submission(folder, shift=0.5)
    first = podium.run(folder, "full").submit(file).json()
    server.stop()
    cached = server.data_dir / "cache" / "blobs" / first["sha256"][:2] / first["sha256"][2:]
    damage(cached)
    server.start()

    assert podium.admin.get(f"/v1/submissions/{first['id']}/file").content == file
    second = podium.run(folder, "full").submit(file).json()
    assert second["state"] == "graded"


@pytest.mark.parametrize("text", [b"", b"not hex", b"\xff\xfe", b"ab" * 4000])
def test_an_identity_of_a_store_that_somebody_replaced_is_told(
    podium: Podium, server: PodiumServer, s3: S3Server, text: bytes
) -> None:
    """The object is not Podium's: the start says so in words."""
    server.stop()
    bucket = server.environment["PODIUM_BLOBS_URL"].split("/")[2]
    (identity,) = (one for one in s3.objects(bucket) if one.name == "store")
    identity.write_bytes(text)
    wait_for_listings()
    with pytest.raises(AssertionError) as failed:
        server.start()
    assert "Traceback" not in str(failed.value)
    assert "PODIUM_BLOBS_URL" in str(failed.value)
