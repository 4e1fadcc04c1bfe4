"""Long lists, of a competition's files or of rejected submissions, take little memory."""

from __future__ import annotations

import contextlib
import json
import socket
import sqlite3
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from app.domain.states import SubmissionState
from app.storage.database.database import Database
from app.storage.queries import runs
from tests.api.conftest import Podium, Run
from tests.attacks.sockets import Watch, connections, send_all, statuses, warmed
from tests.server import PodiumServer
from tests.storage.make import NOON, add_submission, make_submission

FILES = 100_000
SETTINGS = {"graders": 1, "connections": 600, "connections_per_address": 600}
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


REJECTED = 500
VIOLATION = {"code": "bad_format", "message": "m" * 500, "examples": ["e" * 200] * 5}


@pytest.fixture(scope="module")
def rejected(server: PodiumServer, run: Run) -> Run:
    """The run with submissions that were rejected, each for twenty long reasons."""
    problem = {"detail": "d" * 1000, "violations": [VIOLATION] * 20, "violation_count": 20}
    with contextlib.closing(Database(f"sqlite:///{server.data_dir}/podium.db")) as database:
        with database.read() as session:
            record = runs.get_run(session, run.id)
        assert record is not None
        made = [
            make_submission(
                record, state=SubmissionState.REJECTED, attempts=1, problem=problem, settled_at=NOON
            )
            for _ in range(REJECTED)
        ]
        database.write(lambda session: [add_submission(session, one) for one in made] and None)
    return run


def test_pages_of_long_submissions_end_early_and_lead_to_all(rejected: Run) -> None:
    found = listed(rejected.client, f"/v1/runs/{rejected.id}/submissions")
    ids = [one["id"] for one in found]
    assert len(ids) == len(set(ids)) == REJECTED
    assert ids == sorted(ids)


def listing(run: Run, client: str, limit: int) -> str:
    """The request of a client for a page of the run's submissions."""
    listed = f"GET /v1/runs/{run.id}/submissions?limit={limit} HTTP/1.1"
    body = ""
    if client == "kaggle's":
        service = "competitions.CompetitionApiService/ListSubmissions"
        listed = f"POST /v1/{service} HTTP/1.1"
        slug = run.document["competition"]
        body = json.dumps({"competitionName": slug, "pageSize": limit})
    key = run.client.headers["Authorization"]
    return (
        f"{listed}\r\nHost: x\r\nAuthorization: {key}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}"
    )


def has_answer(one: socket.socket) -> bool:
    """Whether the first byte of an answer is there."""
    try:
        return bool(one.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
    except BlockingIOError:
        return False


def test_kaggles_pages_of_long_notes_end_early_and_lead_to_all(
    server: PodiumServer, podium: Podium
) -> None:
    """A thousand with notes of 4,000 characters were one answer of 16 MB."""
    run = podium.run(podium.competition())
    with contextlib.closing(Database(f"sqlite:///{server.data_dir}/podium.db")) as database:
        with database.read() as session:
            record = runs.get_run(session, run.id)
        assert record is not None
        made = [make_submission(record, message="\N{ROBOT FACE}" * 4000) for _ in range(200)]
        database.write(lambda session: [add_submission(session, one) for one in made] and None)
    call = {"competitionName": run.document["competition"], "pageSize": 1000}
    service = "/v1/competitions.CompetitionApiService/ListSubmissions"

    found: list[str] = []
    token: str | None = None
    while token != "":
        answer = run.client.post(service, json={**call, "pageToken": token})
        assert len(answer.content) < 2_500_000
        found += [one["url"].rpartition("/")[2] for one in answer.json()["submissions"]]
        token = answer.json()["nextPageToken"]

    assert found == sorted((one.id for one in made), reverse=True)


@pytest.mark.parametrize("client", ["podium's", "kaggle's"])
def test_many_who_list_long_submissions_take_little_memory(
    server: PodiumServer, rejected: Run, client: str
) -> None:
    head = listing(rejected, client, 1000)
    with watched(server), connections(server, 40) as opened:
        send_all(opened, head.encode())
        assert statuses(opened) == [200] * 40


def test_many_who_read_long_pages_slowly_and_never_stop_take_little_memory(
    server: PodiumServer, podium: Podium, rejected: Run
) -> None:
    """Each takes some bytes a second, so none has stalled; most are cut off, and nobody else is."""
    head = listing(rejected, "podium's", 1000).encode()
    other = podium.run(podium.competition())
    with Watch(server) as watch, connections(server, 0) as opened:
        for _ in range(500):
            client = socket.socket()
            opened.append(client)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(("127.0.0.1", server.port))
        send_all(opened, head)
        for _ in range(16):
            answer = other.client.get(f"/v1/runs/{other.id}")
            assert answer.status_code == 200
            time.sleep(0.5)
            read_a_little(opened)
    assert watch.grown < 220
    assert watch.failed == []


def read_a_little(opened: list[socket.socket]) -> None:
    for one in opened:
        with contextlib.suppress(OSError):
            one.recv(1024, socket.MSG_DONTWAIT)


@pytest.mark.parametrize("client", ["podium's", "kaggle's"])
def test_others_do_not_wait_until_all_requests_of_a_key_are_answered(
    server: PodiumServer, podium: Podium, rejected: Run, client: str
) -> None:
    count = 150
    head = listing(rejected, client, 10).encode()
    with connections(server, count) as opened:
        send_all(opened, head)
        assert podium.admin.get(f"/v1/runs/{rejected.id}").status_code == 200
        left = sum(not has_answer(one) for one in opened)
        assert statuses(opened) == [200] * count
    assert left > count / 2


def test_pages_of_scores_with_much_evidence_end_early_and_lead_to_all(
    podium: Podium, run: Run
) -> None:
    """A thousand with evidence of 64 KiB were one answer of 60 MB."""
    evidence = {"command": "python train.py", "log": "y" * 60_000}
    address = f"/v1/runs/{run.id}/reported-scores"
    for step in range(60):
        body = {"score": 0.5, "step": step, "evidence": evidence}
        assert podium.admin.post(address, json=body).status_code == 201
    found = listed(podium.admin, address)
    assert [one["step"] for one in found] == list(range(60))
    assert found[0]["evidence"] == evidence


LONG = "\N{SNOWMAN}" * 10_000  # 30 KB


def test_pages_of_experiments_with_long_notes_end_early_and_lead_to_all(podium: Podium) -> None:
    """400 with notes of 55 KB were one answer of 22 MB."""
    resources = {"hours": 24}
    made = [f"long notes {number:03}" for number in range(120)]
    for name in made:
        body = {"name": name, "agent": "a", "model": "m", "notes": LONG, "resources": resources}
        assert podium.admin.post("/v1/experiments", json=body).status_code == 201

    found = [one for one in listed(podium.admin, "/v1/experiments") if one["name"] in made]
    assert [one["name"] for one in found] == made
    assert found[0] == podium.admin.get(f"/v1/experiments/{made[0]}").json()
    assert found[0]["notes"] == LONG


def test_pages_of_long_amendments_end_early_and_lead_to_all(podium: Podium) -> None:
    name = podium.experiment()
    numbers = range(70)
    answers = [
        podium.admin.patch(
            f"/v1/experiments/{name}", json={"reason": f"{number}", "notes": f"{number}{LONG[3:]}"}
        )
        for number in numbers
    ]
    found = listed(podium.admin, f"/v1/experiments/{name}/amendments")
    assert found == [one.json() for one in answers]


def test_strangers_who_list_the_log_do_not_load_its_records(
    server: PodiumServer, podium: Podium
) -> None:
    """An entry's record, which only researchers see, may be a long amendment."""
    name = podium.experiment()
    for number in range(400):
        body = {"reason": "w" * 500, "notes": f"{number}{LONG[3:]}"}
        assert podium.admin.patch(f"/v1/experiments/{name}", json=body).status_code == 200
    head = b"GET /v1/log/entries?limit=1000 HTTP/1.1\r\nHost: x\r\n\r\n"
    with Watch(server) as watch, connections(server, 40) as opened:
        send_all(opened, head)
        assert statuses(opened) == [200] * 40
    assert watch.grown < 100


def test_a_list_of_large_receipts_is_read_in_parts(
    server: PodiumServer, podium: Podium, run: Run
) -> None:
    """A receipt of an experiment states all its attempts; the list needs its digest only."""
    experiment = run.document["experiment"]
    address = f"/v1/experiments/{experiment}/receipts"
    first = podium.admin.post(address, json={}).json()
    copy = (
        "INSERT INTO receipt (id, kind, experiment, facts, statement, signature, "
        "envelope_signature, key_id, number, created_at) "
        "SELECT id || ?, kind, experiment, facts, printf('%.*c', 2000000, 'x'), signature, "
        "envelope_signature, key_id, number + ?, created_at FROM receipt WHERE id = ?"
    )
    copies = [(f"{more:03}", more, first["id"]) for more in range(1, 101)]
    # SQLite's own module does not ask for the entries of the log that the copies have not.
    with contextlib.closing(sqlite3.connect(server.data_dir / "podium.db", timeout=30)) as database:
        database.executemany(copy, copies)
        database.commit()

    with Watch(server) as watch:
        found = podium.admin.get(address, params={"limit": 1000}).json()
    assert found["items"][0]["id"] == first["id"]
    assert len(found["items"]) == 101
    assert found["next_cursor"] is None
    assert watch.grown < 120


def listed(client: httpx.Client, address: str) -> list[dict[str, Any]]:
    """All items of a list, from pages of up to a thousand, of which none is a large answer."""
    pages, cursor = [], {}
    while not pages or cursor["cursor"]:
        pages.append(client.get(address, params={"limit": 1000, **cursor}))
        assert pages[-1].status_code == 200, pages[-1].text
        cursor = {"cursor": pages[-1].json()["next_cursor"]}
    assert len(pages) > 1
    assert max(len(page.content) for page in pages) < 3_200_000
    return [one for page in pages for one in page.json()["items"]]
