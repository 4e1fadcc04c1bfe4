"""One call for harnesses: a run, a submission and its grade."""

from __future__ import annotations

import datetime as dt
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.api.conftest import CSV, Podium
from tests.api.test_faults import FAILS_AT_4321, failing_file
from tests.factories import good_submission

FIELDS = [
    "competition_id", "score", "gold_threshold", "silver_threshold", "bronze_threshold",
    "median_threshold", "any_medal", "gold_medal", "silver_medal", "bronze_medal", "above_median",
    "submission_exists", "valid_submission", "is_lower_better", "created_at", "submission_path",
]  # fmt: skip
BAD_FILES = {
    "not_csv": b"id,target\nr1,1,2,3\n",
    "empty_file": b"",
    "missing_column": b"id,other\nr1,1\n",
    "missing_id": b"id,target\nr1,1\n",
    "not_a_number": b"id,target\nr1,abc\n",
}


@pytest.fixture
def experiment(podium: Podium) -> str:
    return podium.experiment()


@pytest.fixture
def harness(podium: Podium, experiment: str) -> httpx.Client:
    return podium.client(podium.harness_key(experiment))


def grade(client: httpx.Client, slug: str, body: bytes, key: str = "", **query: object):  # type: ignore[no-untyped-def]
    headers = {**CSV, **({"Idempotency-Key": key} if key else {})}
    return client.post(
        f"/v1/competitions/{slug}/grade", content=body, headers=headers, params=query
    )


def test_a_good_file_is_graded_in_one_call(podium, experiment, harness, tiny, good):  # type: ignore[no-untyped-def]
    answer = grade(harness, tiny.name, good, seed=2)

    assert answer.status_code == 200, answer.text
    report = answer.json()
    assert report["score"] == report["grade"]["score"] == pytest.approx(0.12)
    assert (report["experiment"], report["seed"], report["state"]) == (experiment, 2, "graded")
    assert report["valid_submission"] is report["submission_exists"] is True
    assert report["any_medal"] == (report["grade"]["medal"] is not None)
    assert report["violations"] == report["grade"]["flags"] == []
    assert (report["medal"], report["violation_count"]) == (report["grade"]["medal"], 0)
    assert report["percentile"] == report["grade"]["percentile"] is not None
    run = podium.admin.get(f"/v1/runs/{report['run']}").json()
    assert (run["experiment"], run["seed"], run["feedback"]) == (experiment, 2, "none")
    assert answer.headers["Location"] == f"/v1/submissions/{report['id']}"


def test_mle_benchs_report_has_exactly_its_fields(podium, harness, tiny, good):  # type: ignore[no-untyped-def]
    answer = grade(harness, tiny.name, good, format="mle-bench")

    report = answer.json()
    assert list(report) == FIELDS
    lines = podium.admin.get(f"/v1/competitions/{tiny.name}").json()["medals"]
    for name in ("gold", "silver", "bronze", "median"):
        assert report[f"{name}_threshold"] == lines[name]
    assert report["score"] == pytest.approx(0.12)
    assert report["is_lower_better"] is True
    assert report["gold_medal"] == (report["score"] <= lines["gold"])
    dt.datetime.fromisoformat(report["created_at"])
    again = grade(harness, tiny.name, good, format="mle-bench")
    assert again.json() == report


@pytest.mark.parametrize("code", BAD_FILES)
def test_a_file_at_fault_is_a_report(harness, tiny, code):  # type: ignore[no-untyped-def]
    answer = grade(harness, tiny.name, BAD_FILES[code])
    theirs = grade(harness, tiny.name, BAD_FILES[code], format="mle-bench")

    assert answer.status_code == theirs.status_code == 200
    report = answer.json()
    assert report["valid_submission"] is False
    assert report["submission_exists"] is True
    assert report["score"] is report["grade"] is None
    assert code in {one["code"] for one in report["violations"]}
    assert report["violation_count"] == report["problem"]["violation_count"] > 0
    assert list(theirs.json()) == FIELDS
    assert theirs.json()["valid_submission"] is theirs.json()["any_medal"] is False


def test_the_report_without_a_submission_has_the_lines_and_stores_nothing(  # type: ignore[no-untyped-def]
    podium, experiment, harness, tiny
):
    report = harness.get(f"/v1/competitions/{tiny.name}/grade").json()

    assert list(report) == FIELDS
    assert report["submission_exists"] is report["valid_submission"] is False
    assert report["gold_threshold"] is not None
    assert podium.admin.get("/v1/runs", params={"experiment": experiment}).json()["items"] == []


def test_a_repeated_request_is_one_attempt(podium, experiment, harness, tiny, good):  # type: ignore[no-untyped-def]
    other = good_submission(tiny, shift=0.3)

    first = grade(harness, tiny.name, good).json()
    assert grade(harness, tiny.name, good).json() == first
    keyed = grade(harness, tiny.name, good, key="trial-1").json()
    assert grade(harness, tiny.name, good, key="trial-1").json() == keyed
    numbered = grade(harness, tiny.name, good, key="x", attempt=1).json()
    assert grade(harness, tiny.name, good, key="y", attempt=1).json() == numbered
    assert len({first["id"], keyed["id"], numbered["id"]}) == 3
    assert grade(harness, tiny.name, other, key="trial-1").status_code == 409
    refused = grade(harness, tiny.name, other, attempt=1)
    assert refused.status_code == 409
    assert "attempt was already sent with another file" in refused.json()["detail"]
    second = grade(harness, tiny.name, other, attempt=2).json()

    assert {first["run"], keyed["run"], numbered["run"], second["run"]} == {first["run"]}
    assert [one["id"] for one in submissions(podium, first["run"])] == [
        first["id"], keyed["id"], numbered["id"], second["id"]
    ]  # fmt: skip


def test_requests_at_the_same_time_are_one_attempt(podium, experiment, harness, tiny, good):  # type: ignore[no-untyped-def]
    with ThreadPoolExecutor(6) as at_once:
        answers = list(at_once.map(lambda _: grade(harness, tiny.name, good, attempt=0), range(6)))

    assert {one.status_code for one in answers} == {200}
    assert len({one.json()["id"] for one in answers}) == 1
    runs = podium.admin.get("/v1/runs", params={"experiment": experiment}).json()["items"]
    assert len(runs) == 1
    assert len(submissions(podium, runs[0]["id"])) == 1


def test_an_agent_cannot_use_up_the_attempt_of_its_harness(podium, tiny, good):  # type: ignore[no-untyped-def]
    run = podium.run(tiny)
    harness = podium.client(podium.harness_key(run.document["experiment"]))
    for key in ("trial-1", "attempt 0", "grade attempt 0"):
        run.submit(good_submission(tiny, shift=0.5), **{"Idempotency-Key": key})

    answer = grade(harness, tiny.name, good, key="trial-1")
    numbered = grade(harness, tiny.name, good, attempt=0)

    assert answer.status_code == numbered.status_code == 200
    assert answer.json()["score"] == numbered.json()["score"] == pytest.approx(0.12)
    assert answer.json()["run"] == run.id
    assert run.client.get(f"/v1/submissions/{answer.json()['id']}").json()["grade"] is None


def test_a_large_multipart_or_compressed_file_is_graded_too(harness, tiny, good):  # type: ignore[no-untyped-def]
    import gzip

    path = f"/v1/competitions/{tiny.name}/grade"
    parts = harness.post(path, files={"file": ("s.csv", good, "text/csv")})
    packed = harness.post(
        path, content=gzip.compress(good), headers={**CSV, "Content-Encoding": "gzip"}
    )

    assert parts.status_code == packed.status_code == 200
    assert parts.json()["id"] == packed.json()["id"]  # the same file


def test_who_may_and_where(podium, experiment, harness, tiny, good):  # type: ignore[no-untyped-def]
    run = podium.run(tiny)
    researcher = podium.client(podium.researcher_key())

    assert grade(podium.client(), tiny.name, good).status_code == 401
    assert grade(podium.client("pod_harness_wrong"), tiny.name, good).status_code == 401
    assert grade(run.client, tiny.name, good).status_code == 403
    assert grade(researcher, tiny.name, good).status_code == 422
    assert grade(researcher, tiny.name, good, experiment=experiment).status_code == 200
    elsewhere = grade(harness, tiny.name, good, experiment=run.document["experiment"])
    nowhere = grade(harness, tiny.name, good, experiment="no-such-experiment")
    assert elsewhere.status_code == nowhere.status_code == 404
    assert grade(harness, "no-such-competition", good).status_code == 404
    assert grade(harness, tiny.name, good, seed="x").status_code == 422
    assert grade(harness, tiny.name, good, format="csv").status_code == 422


def test_a_body_that_is_not_read_makes_no_run(podium, experiment, harness, tiny, good):  # type: ignore[no-untyped-def]
    """As curl sends a file without a header: such a run would count as one without a result."""
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for headers in (form, {**CSV, "Content-Encoding": "br"}):
        path = f"/v1/competitions/{tiny.name}/grade"
        assert harness.post(path, content=good, headers=headers).status_code == 415

    listed = podium.admin.get("/v1/runs", params={"experiment": experiment}).json()["items"]
    assert listed == []


def test_a_closed_run_takes_nothing_more_and_tells_what_it_has(podium, harness, tiny, good):  # type: ignore[no-untyped-def]
    large = good + b"x\n" * 200_000  # its key is known after its last byte
    sent = [grade(harness, tiny.name, body).json() for body in (good, large)]
    podium.admin.patch(f"/v1/runs/{sent[0]['run']}", json={"state": "closed"})

    refused = grade(harness, tiny.name, good, attempt=7)

    assert refused.status_code == 409
    assert refused.json()["type"] == "/problems/run-closed"
    assert [grade(harness, tiny.name, body).json() for body in (good, large)] == sent


def test_an_answer_that_is_not_waited_for_comes_later(harness, tiny, good):  # type: ignore[no-untyped-def]
    path = f"/v1/competitions/{tiny.name}/grade"
    at_once = harness.post(path, content=good, headers={**CSV, "Prefer": "wait=0"})

    if at_once.status_code == 202:
        assert at_once.json()["valid_submission"] is None
    later = grade(harness, tiny.name, good)
    assert later.status_code == 200
    assert later.json()["id"] == at_once.json()["id"]


def submissions(podium: Podium, run: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = podium.admin.get(f"/v1/runs/{run}/submissions").json()["items"]
    return found


def test_a_fault_of_the_competition_is_no_score(podium: Podium) -> None:
    folder = podium.competition(metric_py=FAILS_AT_4321)
    harness = podium.client(podium.harness_key(podium.experiment()))

    for form in ("podium", "mle-bench"):
        answer = grade(harness, folder.name, failing_file(folder), format=form)
        assert answer.status_code == 500, answer.text
        assert answer.json()["type"] == "/problems/grading-fault"
        assert "score" not in answer.json()
