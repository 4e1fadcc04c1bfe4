"""What a request for /readyz changes and finds while the store of files cannot be used."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.conftest import Podium
from tests.server import PodiumServer


@pytest.fixture
def server(own_server: PodiumServer) -> PodiumServer:
    return own_server


@contextlib.contextmanager
def store_away(podium: Podium) -> Iterator[None]:
    """The directory of submitted files is not where it was."""
    blobs = podium.server.data_dir / "blobs"
    aside = blobs.rename(podium.server.data_dir / "aside")
    try:
        yield
    finally:
        aside.rename(blobs)


def test_a_probe_with_an_agents_key_does_not_start_its_clock(podium: Podium) -> None:
    run = podium.run(podium.competition())
    path = f"/v1/runs/{run.id}"
    with store_away(podium):
        answer = run.client.get("/readyz")
        before = podium.admin.get(path).json()["started_at"]
    run.client.get(path)

    assert answer.status_code == 503
    assert "directory of submitted files" in answer.json()["storage"]
    assert before is None
    assert podium.admin.get(path).json()["started_at"] is not None


@pytest.mark.parametrize("login", [False, True], ids=["key", "login"])
def test_it_says_why_the_store_is_not_ready_where_keys_cannot_be_read(
    podium: Podium, *, login: bool
) -> None:
    admin = podium.admin
    if login:
        admin = podium.client()
        entered = admin.post("/login", data={"key": podium.server.key})
        assert entered.status_code in (200, 303)
        assert "podium_login" in admin.cookies
    database = podium.server.data_dir / "podium.db"
    with contextlib.closing(sqlite3.connect(database)) as opened, opened:
        opened.execute("ALTER TABLE api_key RENAME TO lost")

    with store_away(podium):
        answer = admin.get("/readyz")

    assert answer.status_code == 503, answer.text
    assert "directory of submitted files" in answer.json()["storage"]


@pytest.mark.parametrize("name", ["my files, all (of them)", "in a, b /c in d", "plain"])
def test_strangers_read_no_part_of_the_path_of_the_store(tmp_path: Path, name: str) -> None:
    """Behind a comma, a blank or a bracket the path was told."""
    store = tmp_path / name / "blobs"
    store.mkdir(parents=True)
    server = PodiumServer(tmp_path / "data", blobs_url=store.as_uri()).start()
    try:
        (store / "uploads").rename(store / "aside")
        (store / "uploads").write_bytes(b"no directory")
        with server.client() as admin, server.client("pod_admin_wrong") as stranger:
            known, told = (each.get("/readyz").json()["storage"] for each in (admin, stranger))
    finally:
        server.stop()

    assert f"cannot be stored in {store} (PODIUM_BLOBS_URL): Not a directory." in known
    assert told == (
        "Files cannot be stored: Not a directory. Podium needs a directory that it can write to."
    )
