"""Addresses that carry their own permission: they end with their key, and no log has them."""

from __future__ import annotations

import json
import stat
import time
from pathlib import Path
from string import ascii_letters, digits

import pytest

from app.errors import Forbidden
from app.kaggle_api.signed_urls import SignedUrls
from tests.api.conftest import Podium
from tests.factories import good_submission
from tests.forkserver import run_podium
from tests.server import PodiumServer

RPC = "/api/v1/competitions.CompetitionApiService"


@pytest.fixture
def server(own_server: PodiumServer) -> PodiumServer:
    return own_server


def keys_command(server: PodiumServer, *arguments: str) -> str:
    done = run_podium(
        ["keys", *arguments],
        env=server.environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def log_with(server: PodiumServer, words: str) -> str:
    """The log, once it has a line with these words: a line may follow the answer."""
    until = time.monotonic() + 30
    while words not in (log := server.log.read_text()) and time.monotonic() < until:
        time.sleep(0.05)
    return log


def test_addresses_end_with_their_key_and_are_masked_in_the_log(podium: Podium) -> None:
    folder = podium.competition()
    run = podium.run(folder)
    lead = run.client.post(
        f"{RPC}/DownloadDataFile",
        json={"competitionName": folder.name, "fileName": "train.csv"},
        follow_redirects=False,
    )
    address = lead.headers["Location"]
    body = good_submission(folder)
    started = run.client.post(
        f"{RPC}/StartSubmissionUpload",
        json={"competitionName": folder.name, "contentLength": len(body), "fileName": "a.csv"},
    ).json()
    stranger = podium.client()
    assert stranger.get(address).status_code == 200

    listed = json.loads(keys_command(podium.server, "list", "--json"))
    (key,) = [one["id"] for one in listed if one["run"] == run.id]
    keys_command(podium.server, "revoke", key)

    assert stranger.get(address).status_code == 403
    assert stranger.put(started["createUrl"], content=body).status_code == 403
    log = log_with(podium.server, "/api/v1/uploads/")
    for token in (address.split("/")[-2], started["token"]):
        assert token not in log
    assert "/api/v1/files/***/train.csv" in log
    assert "/api/v1/uploads/***" in log


def test_a_token_is_for_its_purpose_and_time_and_has_one_spelling() -> None:
    """Base64 has several spellings of the last bits; a log that masks one would have another."""
    urls = SignedUrls(b"s" * 32)
    token = urls.sign("download", 60, key="key_1", file="a.csv")
    assert urls.open("download", token)["file"] == "a.csv"

    forged = [token[:-1] + letter for letter in ascii_letters + digits + "-_"]
    forged = [one for one in forged if one != token]
    forged += [f"{token}=", f" {token}", token.swapcase(), f"{token}{'A' * 5000}", ""]
    forged += [SignedUrls(b"t" * 32).sign("download", 60, key="key_1", file="a.csv")]
    forged += [urls.sign("download", -5, key="key_1"), urls.sign("upload", 60, key="key_1")]
    for one in forged:
        with pytest.raises(Forbidden):
            urls.open("download", one)


def test_the_data_directory_is_for_its_owner_only(podium: Podium, tmp_path: Path) -> None:
    # The directory of the shared server may have been made by the tests.
    server = PodiumServer(tmp_path / "new", migrates=True).start()
    modes = [one.data_dir.stat().st_mode for one in (server, podium.server)]
    server.kill()

    assert [stat.S_IMODE(mode) for mode in modes] == [0o700, 0o700]
    folder = podium.competition()
    graded = podium.run(folder).submit(good_submission(folder))
    assert graded.json()["state"] == "graded"
