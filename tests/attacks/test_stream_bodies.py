"""Bodies sent with event streams: no route reads them, and streams stay open for an hour."""

from __future__ import annotations

import contextlib

import httpx

from app.api.http.body_limit import MAX_BODY_BYTES
from app.api.http.turns.body_slots import WORKED_BYTES
from tests.api.conftest import Podium
from tests.server import NO_CERTIFICATES, PodiumServer

BODY = b" " * MAX_BODY_BYTES


def test_bodies_of_open_streams_keep_nobodys_from_being_read(
    server: PodiumServer, podium: Podium
) -> None:
    run = podium.run(podium.competition())
    path = f"/v1/runs/{run.id}/events"
    with contextlib.ExitStack() as stack:
        page = stack.enter_context(
            httpx.Client(base_url=server.url, timeout=10, trust_env=False, verify=NO_CERTIFICATES)
        )
        assert page.post("/login", data={"key": server.key}).status_code == 303
        for client, address in ((run.client, path), (page, f"/runs/{run.id}/changes")):
            for _ in range(WORKED_BYTES // MAX_BODY_BYTES):
                stream = stack.enter_context(client.stream("GET", address, content=BODY))
                assert stream.status_code == 200
        made = podium.admin.post("/v1/experiments", json={"name": "x"}, timeout=10)

    assert made.status_code == 422  # it was read: an agent and a model are missing
