"""What agents read of a store that fails: not where it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.conftest import Podium
from tests.attacks.conftest import serving_from
from tests.factories import good_submission
from tests.s3 import S3Server
from tests.server import PodiumServer


@pytest.fixture
def server(own_s3: S3Server, tmp_path: Path) -> Iterator[PodiumServer]:
    """A server whose files are in S3."""
    with serving_from(own_s3, tmp_path) as server:
        yield server


def test_only_who_reads_results_is_told_which_store_is_away(
    podium: Podium, own_s3: S3Server
) -> None:
    """Each answer of 503 told agents the bucket."""
    folder = podium.competition()
    run = podium.run(folder, "full")
    of_admin = podium.run(folder, "full", seed=2)
    body = good_submission(folder, shift=0.5)
    own_s3.stop()

    csv = {"Content-Type": "text/csv"}
    of_agent = [
        run.submit(body),
        run.client.post("/validate", files={"file": ("a.csv", body)}),
        run.client.post(f"/v1/runs/{run.id}/validate", content=body, headers=csv),
    ]
    address = f"/v1/runs/{of_admin.id}/submissions"
    large = b"\n".join([body] + [b"x" * 1000] * 400)  # admitted before its body is read
    known = podium.admin.post(address, content=large, headers=csv)

    answers = [one.json() for one in of_agent if one.status_code == 503]
    assert [one["detail"] for one in answers] == [
        "The store of files does not answer as it should."
    ]
    assert all("s3://" not in one.text for one in of_agent)
    assert known.status_code == 503
    assert known.json()["detail"].startswith("The store of files, s3://")
