"""The list of a competition's files, of which there are very many: it takes little memory."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator

import pytest
from sqlalchemy import text

from app.storage.database.database import Database
from tests.api.conftest import Podium, Run
from tests.attacks.sockets import Watch, connections, send_all, statuses, warmed
from tests.server import PodiumServer

FILES = 100_000
SETTINGS = {"graders": 1, "connections": 200, "connections_per_address": 200}
MOST_MB = 300


def file(number: int) -> dict[str, object]:
    return {"name": f"images/{number:08}.png", "bytes": number, "sha256": f"{number:064x}"}


@pytest.fixture(scope="module")
def run(server: PodiumServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """A run at a competition of many files, of which only the list is there."""
    with contextlib.ExitStack() as clients:
        podium = Podium(server, tmp_path_factory.mktemp("folders"), clients)
        folder = podium.competition()
        made = podium.run(folder)
        server.stop()
        database = Database(f"sqlite:///{server.data_dir}/podium.db")
        files = json.dumps([file(number) for number in range(FILES)])
        database.write(
            lambda session: session.execute(
                text("UPDATE competition_version SET files = :files WHERE slug = :slug"),
                {"files": files, "slug": folder.name},
            ).close()
        )
        database.close()
        warmed(server.start())
        yield made


@contextlib.contextmanager
def watched(server: PodiumServer) -> Iterator[Watch]:
    with Watch(server) as watch:
        yield watch
    assert watch.grown < MOST_MB
    assert watch.failed == []


@pytest.mark.parametrize("path", ["{slug}/files", "{slug}", ""])
def test_many_who_read_a_long_list_slowly_take_little_memory(
    server: PodiumServer, run: Run, path: str
) -> None:
    target = "/v1/competitions" + ("/" + path if path else "")
    target = target.format(slug=run.client.get("/v1/competitions").json()["items"][0]["slug"])
    key = run.client.headers["Authorization"]
    head = f"GET {target} HTTP/1.1\r\nHost: x\r\nAuthorization: {key}\r\n\r\n".encode()
    with watched(server), connections(server, 60) as opened:
        send_all(opened, head)
        assert statuses(opened) == [200] * 60
        answer = run.client.get(target)

    listed = answer.json()
    whole = listed.get("items", [listed])
    files = whole if path.endswith("files") else whole[0]["files"]
    assert files == [file(number) for number in range(FILES)]
