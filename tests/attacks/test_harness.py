"""A harness's key, used in odd ways to see more than the runs of its experiment.

Each call that exists is asked for in `tests/api/test_roles.py`. Here are the ways around: ids of
others in bodies, queries, cursors and headers, other forms of an answer, other APIs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.conftest import CSV, WAIT, Podium, Run
from tests.attacks.test_signed_addresses import RPC
from tests.factories import good_submission, write_competition

NOTE = "the labels lie in train.csv"
FLAG = f'\n[[flags]]\ncode = "secret_code"\nnote = "{NOTE}"\n'
FORMS = ("application/json", "text/csv", "text/markdown", "application/vnd.apache.parquet")
RESULTS = (
    "/v1/experiments/{experiment}/medal-rates?padding=available",
    "/v1/experiments/{experiment}/outcomes",
    "/v1/competitions/{slug}/results",
    "/v1/competitions/{slug}/leaderboard",
    "/v1/compare?a={experiment}&b={own}",
)
PAGES = (
    "/",
    "/experiments/{experiment}",
    "/runs/{run}",
    "/submissions/{submission}",
    "/cost.svg",
    "/experiments/{experiment}/heat-map.png",
    "/competitions/{slug}/leaderboard.pdf",
)


@dataclass
class World:
    """A harness with a run of its own, and another experiment's run with a graded file."""

    podium: Podium
    key: str
    client: httpx.Client
    folder: Path
    run: str
    agent: httpx.Client
    other: Run
    others_file: str
    others_receipt: str

    @property
    def experiment(self) -> str:
        name: str = self.client.get(f"/v1/runs/{self.run}").json()["experiment"]
        return name

    def fill(self, path: str) -> str:
        return path.format(
            experiment=self.other.document["experiment"], own=self.experiment, run=self.other.id,
            slug=self.folder.name, submission=self.others_file, receipt=self.others_receipt,
        )  # fmt: skip


@pytest.fixture
def world(podium: Podium) -> World:
    folder = write_competition(podium.folders / "kept", toml=FLAG)
    known = podium.admin.get("/v1/competitions/kept").status_code == 200
    if not known:
        assert podium.send_folder(folder).status_code == 201
    other = podium.run(folder, "full")
    headers = {"Idempotency-Key": "the-same"}
    sent = other.submit(good_submission(folder, shift=0.07), **headers).json()["id"]
    podium.admin.patch(f"/v1/runs/{other.id}", json={"state": "closed"})
    (receipt,) = podium.admin.get(f"/v1/runs/{other.id}/receipts").json()["items"]
    own = podium.experiment()
    key = podium.harness_key(own)
    client = podium.client(key)
    made = client.post("/v1/runs", json={"experiment": own, "competition": "kept", "seed": 0})
    assert made.status_code == 201, made.text
    run = made.json()
    agent = podium.client(run["key"])
    return World(podium, key, client, folder, run["id"], agent, other, sent, receipt["id"])


def assert_hidden(answer: httpx.Response, *statuses: int) -> None:
    assert answer.status_code in statuses, (answer.request.url, answer.text[:200])
    for word in ("secret_code", NOTE, "0.07", '"score":', "any_medal"):
        assert word not in answer.text


@pytest.mark.parametrize("form", FORMS)
def test_no_form_of_a_result_is_for_it(world: World, form: str) -> None:
    for path in RESULTS:
        answer = world.client.get(world.fill(path), headers={"Accept": form})
        assert_hidden(answer, 403)
    for path in PAGES:
        for query in ("", "?format=csv", "?format=json"):
            answer = world.client.get(world.fill(path) + query, headers={"Accept": "text/html"})
            assert_hidden(answer, 403, 422)  # a picture takes no format


def test_it_cannot_log_in(world: World) -> None:
    answer = world.podium.client().post("/login", data={"key": world.key})

    assert answer.status_code in (401, 403)
    assert "Set-Cookie" not in answer.headers


def test_ids_of_others_in_its_own_requests_give_nothing(world: World) -> None:
    client, own = world.client, world.run
    body = good_submission(world.folder, shift=0.3)
    # The cursor is another run's submission, or another list's.
    for cursor in (world.others_file, "sub_", "0", world.other.id):
        page = client.get(f"/v1/runs/{own}/submissions", params={"cursor": cursor})
        assert page.json().get("items", []) == []
    # Another run's Idempotency-Key, and the attempt's own: a file of this run, or nothing.
    for key in ("the-same", f"file {world.others_file}", "attempt 1"):
        sent = client.post(
            f"/v1/runs/{own}/submissions", content=body, headers={**WAIT, "Idempotency-Key": key}
        )
        assert sent.status_code == 201
        assert (sent.json()["run"], sent.json()["id"] != world.others_file) == (own, True)
        assert sent.json()["grade"]["flags"] == []
    grade = f"/v1/competitions/{world.folder.name}/grade"
    for query in (
        {"experiment": world.other.document["experiment"]},
        {"experiment": world.other.document["experiment"], "seed": "0", "attempt": "0"},
    ):
        assert_hidden(client.post(grade, params=query, content=body, headers=CSV), 404)
    extra = client.post(grade, params={"run": world.other.id}, content=body, headers=WAIT)
    assert_hidden(extra, 422)
    both = f"{grade}?experiment={world.experiment}&experiment={world.other.document['experiment']}"
    assert_hidden(client.post(both, content=body, headers=CSV), 404, 422)
    # The list of its submissions has its own alone.
    address = f"/v1/runs/{own}/submissions"
    assert_hidden(client.get(address, params={"run_id": world.other.id}), 422)
    assert {one["run"] for one in client.get(address).json()["items"]} == {own}


@pytest.mark.parametrize(
    "path",
    [
        "/v1/receipts/{receipt}", "/v1/receipts/{receipt}.sig", "/v1/receipts/{receipt}.dsse",
        "/v1/runs/{run}/receipts", "/v1/submissions/{submission}", "/v1/runs/{run}/submissions",
        "/v1/runs/x/../{run}", "/v1/runs/{run}/", "//v1/runs/{run}", "/v1/runs/{run}%00",
    ],
)  # fmt: skip
def test_things_of_others_are_not_there(world: World, path: str) -> None:
    answer = world.client.get(world.fill(path), follow_redirects=True)

    assert_hidden(answer, 403, 404, 422)


def test_what_is_told_about_its_own_run_is_no_text_for_researchers(world: World) -> None:
    client, slug = world.client, world.folder.name
    client.post(
        f"/v1/competitions/{slug}/grade", content=good_submission(world.folder), headers=WAIT
    )
    told = [
        client.get(f"/v1/runs/{world.run}"),
        client.get(f"/v1/runs/{world.run}/submissions"),
        client.get(f"/v1/competitions/{slug}/grade"),
        client.get("/SKILL.md"),
        client.post(
            f"/v1/competitions/{slug}/grade?format=mle-bench&attempt=7",
            content=good_submission(world.folder), headers=WAIT,
        ),
    ]  # fmt: skip
    for answer in told:
        assert answer.status_code == 200
        for word in ("secret_code", NOTE, "content_hash", "suites", "complexity"):
            assert word not in answer.text
    for path in ("exposure", "events", "trajectory", "reported-scores", "review"):
        assert client.get(f"/v1/runs/{world.run}/{path}").status_code == 403
    # Its own receipt too: a competition with flags is in it.
    world.podium.admin.patch(f"/v1/runs/{world.run}", json={"state": "closed"})
    (receipt,) = world.podium.admin.get(f"/v1/runs/{world.run}/receipts").json()["items"]
    assert_hidden(client.get(f"/v1/receipts/{receipt['id']}"), 404)


def test_it_makes_no_run_of_the_policy_full(world: World) -> None:
    own, client = world.experiment, world.client
    start = f'{{"experiment": "{own}", "competition": "kept", "seed": 5, '
    bodies = [
        '"feedback": "full"}', '"feedback": "FULL"}', '"feedback": "full "}',
        '"feedback": ["full"]}', '"feedback": {"value": "full"}}',
        '"feedback": "validity", "feedback": "full"}', '"policy": "full"}',
        '"feedback": "\\u0066ull"}', '"feedback": "none", "state": "open", "run": {"feedback": 1}}',
    ]  # fmt: skip
    for end in bodies:
        answer = client.post(
            "/v1/runs", content=start + end, headers={"Content-Type": "application/json"}
        )
        assert answer.status_code in (403, 422), (end, answer.text)
    for query in ("?feedback=full", "?policy=full", "?seed=5&feedback=full"):
        client.post(
            f"/v1/competitions/kept/grade{query}",
            content=good_submission(world.folder, shift=1), headers=WAIT,
        )  # fmt: skip
    assert client.patch(f"/v1/runs/{world.run}", json={"feedback": "full"}).status_code == 403
    found = world.podium.admin.get("/v1/runs", params={"experiment": own}).json()["items"]
    assert {one["feedback"] for one in found} <= {"validity", "none"}


def calls(world: World, upload: str) -> list[tuple[str, dict[str, Any]]]:
    own, slug = {"competitionName": world.folder.name}, world.folder.name
    return [
        ("ListSubmissions", own), ("GetSubmission", {"ref": int(world.others_file[4:18], 16)}),
        ("DownloadSubmission", {"submissionId": int(world.others_file[4:18], 16)}),
        ("GetLeaderboard", own), ("DownloadLeaderboard", own), ("GetSubmissionLimits", own),
        ("DownloadDataFile", {**own, "fileName": "train.csv"}), ("GetCompetition", own),
        ("CreateSubmission", {"competitionName": slug, "blobFileTokens": upload}),
    ]  # fmt: skip


def test_kaggles_api_refuses_a_harness(world: World) -> None:
    body = good_submission(world.folder)
    open_run = world.podium.run(world.folder)
    asked = {"competitionName": "kept", "contentLength": len(body), "fileName": "a.csv"}
    started = open_run.client.post(f"{RPC}/StartSubmissionUpload", json=asked).json()
    basic = httpx.Client(
        base_url=world.podium.server.url, auth=("agent", world.key), trust_env=False
    )

    with basic:
        for name, fields in calls(world, started["token"]):
            for client in (world.client, basic):
                assert_hidden(client.post(f"{RPC}/{name}", json=fields), 403)
    # The signed address is the other agent's own: who has it can send those bytes, and see nothing.
    assert world.client.put(started["createUrl"], content=body).json() == {}
    # An agent cannot submit to its run what was uploaded for another.
    foreign = {"competitionName": "kept", "blobFileTokens": started["token"]}
    taken = world.agent.post(f"{RPC}/CreateSubmission", json=foreign)
    assert taken.status_code == 404
    assert open_run.client.get(f"/v1/runs/{open_run.id}/submissions").json()["items"] == []


@pytest.mark.parametrize("kind", ["runs", "competitions"])
def test_it_is_not_told_why_something_was_archived(podium: Podium, kind: str) -> None:
    """An admin wrote the reason for readers of results. A refusal had it."""
    folder = podium.competition()
    own = podium.experiment()
    harness = podium.client(podium.harness_key(own))
    new = {"experiment": own, "competition": folder.name, "seed": 0}
    run = harness.post("/v1/runs", json=new).json()["id"]
    name = run if kind == "runs" else folder.name
    archive = podium.admin.post(f"/v1/{kind}/{name}/archive", json={"reason": NOTE})
    assert archive.status_code == 200, archive.text
    grade, file = f"/v1/competitions/{folder.name}/grade", good_submission(folder)

    answers = [harness.post(f"{grade}?seed=0", content=file, headers=CSV)]
    if kind == "competitions":
        answers.append(harness.post(f"{grade}?seed=1", content=file, headers=CSV))
        answers.append(harness.post("/v1/runs", json={**new, "seed": 1}))
    reader = podium.admin.post(f"{grade}?seed=0&experiment={own}", content=file, headers=CSV)

    for answer in answers:
        assert_hidden(answer, 409)
        assert "was archived at" in answer.json()["detail"]
    assert f": {NOTE}. Restore it first." in reader.json()["detail"]
