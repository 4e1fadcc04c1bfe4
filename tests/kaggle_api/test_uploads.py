"""Files that Kaggle's clients upload: which are refused, what is kept of them, and for how long."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from itsdangerous import URLSafeSerializer

from tests.api.conftest import Podium
from tests.kaggle_api.test_bad_calls import SERVICE, create, put, start


def until(token: str) -> float:
    """The time at which an address ends."""
    return URLSafeSerializer("").loads_unsafe(token)[1]["until"]


@pytest.mark.parametrize(
    "name", ["s.zip", "s.csv.gz", "S.CSV.GZ", "s.7z", "s.tar", "s.parquet", "s.xlsx"]
)
def test_a_file_that_is_no_plain_csv_is_refused_before_it_is_sent(
    podium: Podium, tiny: Path, name: str
) -> None:
    body = {"competitionName": tiny.name, "fileName": name, "contentLength": 1}
    answer = podium.run(tiny).client.post(f"{SERVICE}/StartSubmissionUpload", json=body)
    words = f"{name!r} cannot be read here: submit the plain CSV file."
    assert (answer.status_code, answer.json()["message"]) == (400, words)


def test_an_uploaded_file_becomes_a_submission_with_the_end_of_its_name(
    podium: Podium, tiny: Path, good: bytes
) -> None:
    def received() -> float:
        lines = podium.admin.get("/metrics").text.splitlines()
        name = "podium_submissions_received_total "
        return float(next(line for line in lines if line.startswith(name)).split()[1])

    run, before = podium.run(tiny), received()
    name = "a" * 10 + "b" * 196 + ".csv"
    body = {"competitionName": tiny.name, "fileName": name, "contentLength": len(good)}
    started = run.client.post(f"{SERVICE}/StartSubmissionUpload", json=body).json()
    put(started["createUrl"], good)
    create(run, tiny.name, started["token"])

    listed = run.client.post(f"{SERVICE}/ListSubmissions", json={"competitionName": tiny.name})
    assert [one["fileName"] for one in listed.json()["submissions"]] == [name[-200:]]
    assert received() == before + 1


def test_an_address_of_an_upload_lasts_an_hour_and_one_of_a_download_six(
    podium: Podium, tiny: Path
) -> None:
    run, asked = podium.run(tiny), int(time.time())
    body = {"competitionName": tiny.name}
    to_upload = start(run, tiny.name, b"x")["token"]
    lead = run.client.post(f"{SERVICE}/DownloadDataFiles", json=body).headers["Location"]
    answered = time.time()
    assert asked + 3600 <= until(to_upload) <= answered + 3600
    assert asked + 6 * 3600 <= until(lead.split("/")[-2]) <= answered + 6 * 3600


def test_a_run_without_a_limit_may_send_a_million_files(podium: Podium, tiny: Path) -> None:
    body = {"competitionName": tiny.name}
    told = podium.run(tiny).client.post(f"{SERVICE}/GetSubmissionLimits", json=body).json()
    assert (told["numAllowedNow"], told["limitedByTotal"]) == (1_000_000, False)
