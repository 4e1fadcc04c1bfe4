"""Two servers on one database and one S3 store; each has a data directory of its own."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.conftest import Podium
from tests.distributed.cluster import await_that
from tests.factories import good_submission, write_competition
from tests.forkserver import run_podium
from tests.s3 import S3Server
from tests.server import PodiumServer
from tests.storage.blobs.test_s3_answers import open_gate

SERVICE = "/api/v1/competitions.CompetitionApiService"
Start = Callable[..., PodiumServer]


@pytest.fixture
def cluster(
    postgres: Any, migrated_postgres: str, own_s3: S3Server, tmp_path: Path
) -> Iterator[Start]:
    """Starts servers that share a PostgreSQL database and a bucket."""
    bucket = own_s3.bucket()
    with contextlib.ExitStack() as stack:
        url = postgres.url(stack.enter_context(postgres.database(migrated_postgres)))

        def start(name: str, *, wait: bool = True, **settings: Any) -> PodiumServer:
            said = {"blobs_url": f"s3://{bucket}/podium", "graders": 1, **settings}
            server = PodiumServer(tmp_path / name, url, **said)
            server.environment.update(own_s3.environment)
            if wait:
                server.start()
                stack.callback(server.stop)
            return server

        yield start


@pytest.fixture
def pair(cluster: Start) -> tuple[PodiumServer, PodiumServer]:
    one, two = cluster("one"), cluster("two")
    assert (bool(one.key), two.key) == (True, "")  # the admin's key is made once
    two.key = one.key
    return one, two


def test_what_one_server_imports_every_server_serves_and_grades(
    pair: tuple[PodiumServer, PodiumServer], tmp_path: Path
) -> None:
    one, two = pair
    folder = write_competition(tmp_path / "folders" / "tiny", metric_py=OWN_METRIC)
    with contextlib.ExitStack() as stack:
        here, there = Podium(one, folder.parent, stack), Podium(two, folder.parent, stack)
        assert there.admin.get("/readyz").json()["storage"] == "ok"
        assert here.send_folder(folder).status_code == 201
        assert there.send_folder(folder).status_code == 200
        path = "/v1/competitions/tiny/files"
        names = [one["name"] for one in there.admin.get(path).json()["items"]]
        bytes_of = {name: [p.admin.get(f"{path}/{name}") for p in (here, there)] for name in names}
        description = there.admin.get("/v1/competitions/tiny/description").text
        board = there.admin.get("/v1/competitions/tiny/leaderboard").json()
        run = there.run(folder, feedback="full")
        sent = [run.submit(good_submission(folder, shift=0.1 * n)) for n in range(10)]
        assert {answer.status_code for answer in sent} <= {201, 202}, [a.text for a in sent]
        graded = [wait_until_settled(here, answer.json()["id"]) for answer in sent]
        valid = run.validate(good_submission(folder)).json()
        again = here.admin.get(f"/v1/submissions/{graded[3]['id']}/file")

    for name, (first, second) in bytes_of.items():
        assert first.content == second.content == (folder / "public" / name).read_bytes()
        assert first.headers["ETag"] == second.headers["ETag"]
        assert first.headers["Last-Modified"] == second.headers["Last-Modified"]
    assert description == (folder / "description.md").read_text()
    assert len(board["scores"]) == 12
    assert [s["state"] for s in graded] == ["graded"] * 10
    assert graded[3]["grade"]["score"] == pytest.approx(0.3)
    assert valid["valid"]
    assert again.content == good_submission(folder, shift=0.1 * 3)
    assert not (one.data_dir / "competitions").exists()
    assert not (two.data_dir / "blobs").exists()


OWN_METRIC = """
def score(answers, submission):
    return float(abs(answers["target"] - submission["target"]).max())
"""


def test_a_kaggle_upload_goes_through_whichever_server_comes(
    pair: tuple[PodiumServer, PodiumServer], tmp_path: Path
) -> None:
    one, two = pair
    folder = write_competition(tmp_path / "folders" / "tiny")
    good = good_submission(folder)
    with contextlib.ExitStack() as stack:
        here, there = Podium(one, folder.parent, stack), Podium(two, folder.parent, stack)
        here.send_folder(folder)
        run = here.run(folder)
        body = {"competitionName": "tiny", "fileName": "s.csv", "contentLength": len(good)}
        started = run.client.post(f"{SERVICE}/StartSubmissionUpload", json=body).json()
        path = httpx.URL(started["createUrl"]).path
        sent = there.client().put(path, content=good)
        second = here.client().put(path, content=good)
        body = {"competitionName": "tiny", "blobFileTokens": started["token"]}
        submitted = [run.client.post(f"{SERVICE}/CreateSubmission", json=body) for _ in range(2)]
        (one_id,) = here.admin.get(f"/v1/runs/{run.id}/submissions").json()["items"]
        graded = wait_until_settled(here, one_id["id"])
        link = run.client.post(f"{SERVICE}/DownloadDataFiles", json={"competitionName": "tiny"})
        archive = [p.client().get(httpx.URL(link.headers["Location"]).path) for p in (here, there)]

    assert (sent.status_code, second.status_code) == (200, 409)
    assert [answer.status_code for answer in submitted] == [200, 200]
    assert submitted[0].json() == submitted[1].json()
    assert (graded["state"], graded["bytes"]) == ("graded", len(good))
    assert archive[0].content == archive[1].content
    assert archive[0].headers["ETag"] == archive[1].headers["ETag"]


def wait_until_settled(podium: Podium, submission: str) -> dict[str, Any]:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        found: dict[str, Any] = podium.admin.get(f"/v1/submissions/{submission}").json()
        if found["state"] not in ("queued", "grading"):
            return found
        time.sleep(0.05)
    raise AssertionError(f"{submission} is stuck")


def test_damaged_files_are_our_fault_and_named(
    pair: tuple[PodiumServer, PodiumServer], own_s3: S3Server, tmp_path: Path
) -> None:
    one, two = pair
    folder = write_competition(tmp_path / "folders" / "tiny")
    good = good_submission(folder, shift=0.5)
    with contextlib.ExitStack() as stack:
        here, there = Podium(one, folder.parent, stack), Podium(two, folder.parent, stack)
        here.send_folder(folder)
        run = here.run(folder, feedback="full")
        first = run.submit(good).json()
        one.stop()
        answers = (folder / "private" / "answers.csv").read_bytes()
        for stored in own_s3.objects(next(own_s3.root.iterdir()).name):
            if stored.read_bytes() in (good, answers):
                stored.write_bytes(stored.read_bytes().replace(b"1", b"2"))
        two.stop()
        shutil.rmtree(two.data_dir / "cache")
        two.start()
        lost = there.admin.get(f"/v1/submissions/{first['id']}/file")
        run.client.base_url = two.url
        second = run.submit(good_submission(folder, shift=0.25)).json()
        log = two.log.read_text()
        one.start()  # the fixture stops it

    assert first["state"] == "graded"
    assert lost.status_code == 500
    assert first["sha256"] in log
    assert (second["state"], second["grade"]) == ("failed", None)
    assert second["problem"]["type"] == "/problems/grading-fault"
    assert '"kind": "storage"' in log


def command(server: PodiumServer, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_podium(
        arguments,
        env={**server.environment, "COLUMNS": "200"}, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"PODIUM_BLOBS_URL": "s3://nowhere/x"}, "no bucket for s3://nowhere/x"),
        ({"PODIUM_BLOBS_URL": "gopher://x"}, "its scheme is 'gopher'"),
        ({"AWS_SECRET_ACCESS_KEY": "wrong"}, "refuses these credentials"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "does not answer"),
        ({"PODIUM_BLOBS_URL": "file:///proc/nothing"}, "cannot be stored in /proc/nothing"),
    ],
)
def test_a_store_that_cannot_be_used_is_told_at_the_start(
    cluster: Start, setting: dict[str, str], words: str
) -> None:
    server = cluster("one", wait=False, dispatch="queue")
    server.environment.update(setting)
    assert_refused(server, words)


def test_strangers_are_not_told_where_a_store_that_refuses_is(
    cluster: Start, own_s3: S3Server, tmp_path: Path
) -> None:
    server = cluster("one")
    folder = write_competition(tmp_path / "folders" / "tiny")
    with contextlib.ExitStack() as stack:
        there = Podium(server, folder.parent, stack)
        there.send_folder(folder)
        askers = {
            "admin": there.admin, "researcher": there.client(there.researcher_key()),
            "agent": there.client(there.run(folder).document["key"]),
            "nobody": there.client(), "somebody": there.client("pod_admin_wrong"),
        }  # fmt: skip
        own_s3.stop()
        with refusing(own_s3.port):
            await_that(lambda: there.client().get("/readyz").status_code == 503, "it is ready")
            told = {who: each.get("/readyz").json()["storage"] for who, each in askers.items()}
        own_s3.start()

    for who, said in told.items():
        assert "refuses these credentials" in said
        assert "AccessDenied" in said
        knows = {word in said for word in ("s3://", "podium ", str(own_s3.port))}
        assert knows == {who in ("admin", "researcher")}, (who, said)


@contextlib.contextmanager
def refusing(port: int) -> Iterator[None]:
    """A store in the place of another that refuses every request."""
    with open_gate(port) as gate:
        gate.status, gate.body = 403, b"<Error><Code>AccessDenied</Code></Error>"
        yield


def test_a_bucket_that_may_only_be_read_is_told_at_the_start(
    cluster: Start, own_s3: S3Server
) -> None:
    server = cluster("one", wait=False, dispatch="queue")
    own_s3.stop()
    own_s3.start(read_only=True)
    assert_refused(server, "can be read but not written")


def assert_refused(server: PodiumServer, words: str) -> None:
    for arguments in (["serve", "--port", "0"], ["worker"]):
        done = command(server, *arguments)

        assert done.returncode == 1
        assert words in " ".join(done.stderr.split())
        assert "Traceback" not in done.stderr
        assert "wrong" not in done.stderr
