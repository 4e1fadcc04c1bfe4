"""A researcher's key, used in odd ways for what only admins may do, and against what only grows.

Each route is asked for in `tests/api/test_roles.py`. Here are the ways around: forms of pages,
other methods and forms of an answer, fields that a body does not have, and records written again.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.conftest import CSV, Podium, Run, packed
from tests.attacks.conftest import metric
from tests.factories import good_submission
from tests.server import PodiumServer
from tests.web.conftest import visitor

SETTINGS = {"grading_attempts": 1}
TOKEN = re.compile(r'name="token" value="([^"]+)"')
SECRET_PLACE = "ValueError at metric.py"
FAILS = metric(
    "if (submission['target'] > 1e6).any():\n    raise ValueError(answers['target'][0])\nreturn 0.5"
)
# Tables to which rows are only added, or whose rows a researcher may not change.
TABLES = ("grade", "disclosure", "submission", "fault", "receipt", "log_entry", "checkpoint",
          "signing_key", "api_key", "amendment", "archival", "competition_version", "version_file",
          "run_review", "regrade")  # fmt: skip


@dataclass
class World:
    """A researcher, logged in as well, and a closed run with a graded and a failed file."""

    podium: Podium
    client: httpx.Client
    browser: httpx.Client
    folder: Path
    run: Run
    graded: str
    failed: str

    def admins_key(self) -> str:
        keys = self.podium.admin.get("/v1/keys?limit=1000").json()["items"]
        return next(one["id"] for one in keys if one["role"] == "admin")

    def form_token(self) -> str:
        """The token that a page gives to forms of this login."""
        made = self.podium.run(self.folder)
        found = TOKEN.search(self.browser.get(f"/runs/{made.id}/close").text)
        assert found is not None
        return found[1]

    def rows(self) -> dict[str, list[Any]]:
        """All rows of the tables that have to stay."""
        with contextlib.closing(
            sqlite3.connect(self.podium.server.data_dir / "podium.db")
        ) as database:
            known = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
            return {
                name: database.execute(f"SELECT * FROM {name} ORDER BY rowid").fetchall()
                for name in TABLES
                if name in known
            }


@pytest.fixture
def world(podium: Podium) -> World:
    """A world of the test's own."""
    return make_world(podium)


@pytest.fixture(scope="module")
def world_to_read(
    server: PodiumServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """A world that tests share and do not change."""
    with contextlib.ExitStack() as clients:
        yield make_world(Podium(server, tmp_path_factory.mktemp("folders"), clients))


def make_world(podium: Podium) -> World:
    folder = podium.competition(metric_py=FAILS, leaderboard=None, usage=None)
    run = podium.run(folder)
    graded = run.submit(good_submission(folder)).json()["id"]
    failed = run.submit(good_submission(folder, shift=1e9)).json()
    assert failed["state"] == "failed"
    podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})
    key = podium.researcher_key()
    client, browser = podium.client(key), visitor(podium.server, key)
    return World(podium, client, browser, folder, run, graded, failed["id"])


def test_reasons_of_faults_are_on_none_of_its_pages(world: World) -> None:
    """Where a metric.py failed is for admins: the page of a submission has it for them alone."""
    address = f"/submissions/{world.failed}"
    admin = visitor(world.podium.server, world.podium.server.key)
    assert SECRET_PLACE in admin.get(address).text
    own = world.browser.get(address)
    assert (own.status_code, "could not grade this file" in own.text) == (200, True)

    for path in (address, f"/runs/{world.run.id}", "/operations", f"/v1{address}", "/v1/faults"):
        for query in (
            "",
            "?format=json",
            "?format=csv",
            "?before=1",
            f"?submission={world.failed}",
        ):
            for client in (world.client, world.browser):
                for form in ("text/html", "application/json", "text/csv", "*/*"):
                    text = client.get(path + query, headers={"Accept": form}).text
                    assert SECRET_PLACE not in text, (path, query, form)


def test_forms_of_admins_refuse_its_login(world: World) -> None:
    token, before = world.form_token(), world.rows()
    archive = {"archive": ("a.tar.gz", packed(world.folder))}
    review = {"decision": "exclude", "reason": "not mine to decide", "token": token}

    answers = [
        world.browser.post(f"/operations/keys/{world.admins_key()}/revoke", data={"token": token}),
        world.browser.post(f"/operations/reviews/{world.run.id}", data=review),
        world.browser.post(
            "/operations/imports", files=archive, data={"token": token, "confirm": "yes"}
        ),
        world.browser.get(f"/operations/keys/{world.admins_key()}/revoke"),
        world.browser.get("/operations/imports"),
        world.browser.get("/operations/reviews?format=csv"),
    ]

    assert [answer.status_code for answer in answers] == [403] * len(answers)
    assert world.rows() == before
    assert world.podium.admin.get("/v1/keys").status_code == 200


@pytest.mark.parametrize("header", ["X-HTTP-Method-Override", "X-Method-Override", "X-HTTP-Method"])
def test_no_header_makes_another_method_of_a_request(world: World, header: str) -> None:
    before = world.rows()
    for method, path in (
        ("DELETE", f"/v1/keys/{world.admins_key()}"),
        ("POST", "/v1/keys"),
        ("DELETE", f"/v1/submissions/{world.graded}"),
    ):
        for sent in ("GET", "POST"):
            answer = world.client.request(
                sent, path, headers={header: method}, params={"_method": method}, json={}
            )
            assert answer.status_code in (200, 403, 404, 405, 422)
            assert "pod_" not in answer.text

    assert world.rows() == before


def test_a_key_that_it_makes_is_a_runs(world: World) -> None:
    """Whatever the body says; and its own key cannot be made an admin's."""
    run = world.podium.run(world.folder)
    bodies: list[dict[str, Any]] = [
        {"role": "admin"}, {"role": "researcher", "name": "me"}, {"run": None, "role": "admin"},
    ]  # fmt: skip
    for body in bodies:
        answer = world.client.post(f"/v1/runs/{run.id}/keys", json=body)
        assert answer.status_code in (201, 422)
        if answer.status_code == 201:
            assert answer.json()["role"] == "run"
            assert answer.json()["key"].startswith("pod_run_")
        assert world.client.post("/v1/keys", json=body).status_code == 403
    experiment = run.document["experiment"]
    smuggled = {"experiment": experiment, "competition": world.folder.name, "seed": 7}
    for more in ({"key": "pod_admin_x"}, {"role": "admin"}, {"version_id": 1}, {"id": "run_mine"}):
        assert world.client.post("/v1/runs", json=smuggled | more).status_code == 422
    roles = {one["role"] for one in world.podium.admin.get("/v1/keys?limit=1000").json()["items"]}
    assert roles == {"admin", "researcher", "run"}


def test_two_keys_in_one_request_are_no_better_than_one(world_to_read: World) -> None:
    own = world_to_read.client.headers["Authorization"]
    for wrong in ("Bearer pod_admin_" + "x" * 32, "Basic YWRtaW46YWRtaW4=", "Bearer"):
        for headers in (
            [("Authorization", own), ("Authorization", wrong)],
            [("Authorization", wrong), ("Authorization", own)],
        ):
            answer = httpx.get(
                f"{world_to_read.podium.server.url}/v1/keys", headers=headers, trust_env=False
            )
            assert answer.status_code in (400, 401, 403)
            assert "items" not in answer.text


@pytest.mark.parametrize(
    "name",
    [
        "private/answers.csv", "../private/answers.csv", "..%2Fprivate%2Fanswers.csv",
        "%2e%2e/private/answers.csv", "./../private/answers.csv", "....//private/answers.csv",
        "train.csv/../../private/answers.csv", "answers.csv", "metric.py", "../metric.py",
        "train.csv%00../private/answers.csv", "..%5Cprivate%5Canswers.csv",
    ],
)  # fmt: skip
def test_answers_are_no_file_of_a_competition(world_to_read: World, name: str) -> None:
    answer = world_to_read.client.get(f"/v1/competitions/{world_to_read.folder.name}/files/{name}")

    assert answer.status_code in (400, 404, 422), answer.text[:200]
    secret = (
        (world_to_read.folder / "private" / "answers.csv").read_text().splitlines()[1].split(",")[1]
    )
    assert secret not in answer.text


def test_nothing_that_only_grows_can_be_changed_or_removed(world: World) -> None:
    run, before = world.run.id, world.rows()
    things = [
        f"/v1/submissions/{world.graded}", f"/v1/runs/{run}", f"/v1/runs/{run}/exposure",
        f"/v1/runs/{run}/submissions", f"/v1/runs/{run}/receipts", "/v1/log/entries",
        "/v1/log/entries/0", f"/v1/competitions/{world.folder.name}", "/v1/signing-keys",
        f"/v1/experiments/{world.run.document['experiment']}", f"/v1/runs/{run}/reported-scores",
    ]  # fmt: skip
    for path in things:
        for method in ("PUT", "PATCH", "DELETE"):
            answer = world.client.request(method, path, json={"score": 1.0, "state": "open"})
            assert answer.status_code in (403, 404, 405, 422), (method, path, answer.text)

    for body in (
        {"state": "open"},
        {"feedback": "full"},
        {"limits": {}},
        {"selected": world.failed},
    ):
        answer = world.client.patch(f"/v1/runs/{run}", json=body)
        assert answer.status_code == 422, body
    chosen = world.client.put(f"/v1/runs/{run}/selected", json={"submission": world.graded})
    late = world.client.post(
        f"/v1/runs/{run}/submissions", content=good_submission(world.folder), headers=CSV
    )
    assert (chosen.status_code, late.status_code) == (409, 409)
    assert world.client.post(
        f"/v1/runs/{run}/review", json={"decision": "exclude", "reason": "a reason"}
    ).status_code == 403  # fmt: skip
    assert world.rows() == before


def test_a_record_written_again_changes_nothing(world: World) -> None:
    """A score reported for a graded run stands beside its grade; names and seeds are taken once."""
    run, experiment = world.run.id, world.run.document["experiment"]
    before = world.rows()
    grade = world.client.get(f"/v1/submissions/{world.graded}").json()["grade"]

    world.client.post(f"/v1/runs/{run}/reported-scores", json={"score": 9.0, "evidence": {"a": 1}})
    again = world.client.post(
        "/v1/experiments", json={"name": experiment, "agent": "another", "model": "another"}
    )
    taken = world.client.post(
        "/v1/runs",
        json={"experiment": experiment, "competition": world.folder.name, "seed": 0},
    )

    assert (again.status_code, taken.status_code) == (409, 409)
    assert world.client.get(f"/v1/submissions/{world.graded}").json()["grade"] == grade
    results = world.client.get(f"/v1/competitions/{world.folder.name}/results").json()["items"]
    (shown,) = [one for one in results if one["run"] == run]
    assert (shown["run"], shown["score"]) == (run, 0.5)
    after = world.rows()
    assert after == before
    other = world.podium.run(world.folder)
    foreign = other.client.put(f"/v1/runs/{other.id}/selected", json={"submission": world.graded})
    by_researcher = world.client.put(
        f"/v1/runs/{other.id}/selected", json={"submission": world.graded}
    )
    assert (foreign.status_code, by_researcher.status_code) == (404, 404)
