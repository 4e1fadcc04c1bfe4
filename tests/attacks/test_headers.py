"""Headers and parameters with numbers and dates that no calendar or computer has: no 500."""

from __future__ import annotations

import pytest

from tests.api.conftest import Podium, Run
from tests.factories import good_submission

LONG = "9" * 5000
RANGES = (
    f"{LONG}-", f"0-{LONG}", f"-{LONG}", f"{LONG}-{LONG}", f"0-1,{LONG}-", "9" * 19 + "-",
    "0-" + "9" * 18, "٣-", "0-٣", "--1", "-", "0-0-0", "-0",
)  # fmt: skip
DATES = (
    "Mon, 01 Jan 2024 00:00:00 +99999999999999999999", f"Mon, {'1' * 23} Jan 2024 00:00:00 GMT",
    "Mon, 01 Jan 99999999999999999999 00:00:00 GMT", "Mon, 01 Jan 2024 00:00:00 -9999",
    f"Mon, 01 Jan 2024 {LONG}:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 -2359",
    "Mon, 01 Jan 0001 00:00:00 +2359", LONG, "",
)  # fmt: skip


@pytest.fixture(scope="module")
def asked() -> list[str]:
    return []


@pytest.fixture
def addresses(podium: Podium) -> tuple[Run, list[str]]:
    """The three kinds of addresses of files, for one run."""
    folder = podium.competition()
    run = podium.run(folder, feedback="full")
    sent = run.submit(good_submission(folder)).json()
    body = {"competitionName": folder.name, "fileName": "sample_submission.csv"}
    call = "/api/v1/competitions.CompetitionApiService/DownloadDataFile"
    signed = run.client.post(call, json=body).headers["Location"]
    public = f"/v1/competitions/{folder.name}/files/sample_submission.csv"
    return run, [f"/v1/submissions/{sent['id']}/file", public, signed]


@pytest.mark.parametrize("name", ["Range", "If-Modified-Since"])
def test_no_range_and_no_date_is_a_500(addresses: tuple[Run, list[str]], name: str) -> None:
    run, paths = addresses
    values = [f"bytes={one}" for one in RANGES] if name == "Range" else DATES
    answers = [
        (path, value[:80], run.client.get(path, headers=[(name.encode(), value.encode())]))
        for path in paths
        for value in values
    ]

    odd = [one[:2] for one in answers if one[2].status_code not in (200, 206, 304, 416)]
    assert odd == []


def test_a_range_that_ends_beyond_the_file_is_served(addresses: tuple[Run, list[str]]) -> None:
    run, paths = addresses

    for path in paths:
        found = run.client.get(path, headers={"Range": "bytes=1-999999999999"})
        assert found.status_code == 206
        assert found.headers["Content-Range"].startswith("bytes 1-")


def test_scores_before_the_experiment_was_made_are_none(podium: Podium) -> None:
    folder = podium.competition()
    run = podium.run(folder, feedback="full")
    run.submit(good_submission(folder))
    name = run.document["experiment"]
    statistics = ("scores", "medal-rates", "pass-at-k", "medals-over-time", "sensitivity")

    answers = {
        one: podium.client(podium.server.key).get(
            f"/v1/experiments/{name}/{one}", params={"as_of": "1990-01-01T00:00:00Z"}
        )
        for one in statistics
    }

    assert {one: answer.status_code for one, answer in answers.items()} == dict.fromkeys(
        statistics, 409
    )
    assert "made after 1990" in answers["scores"].json()["detail"]
