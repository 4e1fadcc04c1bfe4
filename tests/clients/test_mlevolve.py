"""MLEvolve's requests through `podium proxy`, in its order, written anew from a description."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx

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
    with httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
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
    bad = tmp_path / "bad.csv"
    bad.write_bytes(b"id,target\nr1,x\n")
    with server.client() as admin:
        run = admin.post(
            "/v1/runs", json={"experiment": "e", "competition": slug, "seed": 0}
        ).json()
        with forwarding(server.url, run["key"], tmp_path, free_port()) as url:
            good = {"is_valid": True, "result": "Submission is valid."}
            assert call_validate(url, slug, server_away.file) == (True, good)
            passed, answer = call_validate(url, slug, bad)
            assert (passed, answer["is_valid"]) == (True, False)
            assert "is not a number" in answer["result"]
            passed, details = call_validate(url, "another-competition", server_away.file)
            assert not passed
            assert slug in details

            server.kill()
            assert call_validate(url, slug, server_away.file) == (False, "not online")
            server.start()
            assert call_validate(url, slug, server_away.file) == (True, good)

            admin.patch(f"/v1/runs/{run['id']}", json={"state": "closed"})
            passed, details = call_validate(url, slug, server_away.file)
            assert not passed
            assert "closed" in details
            assert admin.get(f"/v1/runs/{run['id']}/submissions").json()["items"] == []
    assert server.stop() == 0
