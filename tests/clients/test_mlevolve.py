"""MLEvolve's requests through `podium proxy`, in its order, written anew from a description."""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path
from typing import Any

import httpx

from tests.api.test_grade import BAD_FILES
from tests.clients.conftest import ServerAway
from tests.kaggle_api.test_proxy import forwarding
from tests.server import free_port

TRIES, PAUSE = 3, 1.0  # MLEvolve's: attempts of each request, seconds between them


def is_online(client: httpx.Client) -> bool:
    """Ask for /health until it is 200, three times at most."""
    for attempt in range(TRIES):
        try:
            if client.get("/health").status_code == 200:
                return True
        except httpx.TransportError:
            pass
        if attempt + 1 < TRIES:
            time.sleep(PAUSE)
    return False


def call_validate(url: str, competition: str, file: Path) -> tuple[bool, Any]:
    """Whether there is a verdict, and it; `exp-id` and the field `file` are its names."""
    with httpx.Client(base_url=url, timeout=60, trust_env=False, verify=False) as client:
        if not is_online(client):
            return False, "not online"
        with file.open("rb") as opened:
            answer = client.post(
                "/validate", files={"file": opened}, headers={"exp-id": competition}
            ).json()
    return (False, answer["details"]) if "error" in answer else (True, answer)


def test_a_search_validates_its_files_through_the_proxy(
    server_away: ServerAway, tmp_path: Path
) -> None:
    server, slug = server_away.server.start(), server_away.competition
    for code, content in BAD_FILES.items():
        (tmp_path / code).write_bytes(content)
    with server.client() as admin:
        run = admin.post(
            "/v1/runs", json={"experiment": "e", "competition": slug, "seed": 0}
        ).json()
        with forwarding(server.url, run["key"], tmp_path, free_port()) as url:
            good = {"is_valid": True, "result": "Submission is valid."}
            assert call_validate(url, slug, server_away.file) == (True, good)
            for code in BAD_FILES:
                passed, answer = call_validate(url, slug, tmp_path / code)
                assert (passed, answer["is_valid"]) == (True, False), code
            assert "is not a number" in answer["result"]
            passed, details = call_validate(url, "another-competition", server_away.file)
            assert not passed
            assert slug in details

            server.kill()
            with server_away.comes_back_after(10):
                started = time.monotonic()
                assert call_validate(url, slug, server_away.file) == (False, "not online")
                assert time.monotonic() - started < 10  # its own three tries
            assert call_validate(url, slug, server_away.file) == (True, good)

            admin.patch(f"/v1/runs/{run['id']}", json={"state": "closed"})
            passed, details = call_validate(url, slug, server_away.file)
            assert not passed
            assert "closed" in details
            assert admin.get(f"/v1/runs/{run['id']}/submissions").json()["items"] == []
            admin.post("/v1/experiments/e/archive", json={"reason": "a test"})
            passed, details = call_validate(url, slug, server_away.file)
            assert not passed
        with forwarding(server.url, "pod_run_wrong", tmp_path, free_port()) as url:
            passed, details = call_validate(url, slug, server_away.file)
            assert not passed
            assert "key" in details
    assert server.stop() == 0


def test_a_server_killed_while_it_checks_gives_no_verdict_and_then_the_right_one(
    server_away: ServerAway, tmp_path: Path
) -> None:
    server, slug = server_away.server.start(), server_away.competition
    verdicts: list[tuple[bool, Any]] = []

    is_enough = threading.Event()

    def search(url: str) -> None:
        while not is_enough.is_set():
            with contextlib.suppress(httpx.TransportError, ValueError, KeyError):
                verdicts.append(call_validate(url, slug, server_away.file))

    with server.client() as admin:
        run = admin.post(
            "/v1/runs", json={"experiment": "e", "competition": slug, "seed": 0}
        ).json()
        with forwarding(server.url, run["key"], tmp_path, free_port()) as url:
            searching = threading.Thread(target=search, args=(url,))
            searching.start()
            for _ in range(3):
                time.sleep(0.5)
                server.kill()
                server.start()
            is_enough.set()
            searching.join()
            good = {"is_valid": True, "result": "Submission is valid."}
            assert call_validate(url, slug, server_away.file) == (True, good)
        assert admin.get(f"/v1/runs/{run['id']}/submissions").json()["items"] == []
    assert (True, good) in verdicts
    assert all(answer == good for passed, answer in verdicts if passed)
    assert server.stop() == 0
