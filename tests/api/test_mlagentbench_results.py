"""MLAgentBench's results over HTTP: runs, imported scores and failures, all of them or none."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from tests.api.conftest import Podium
from tests.api.test_success import baseline, measured_competition, success
from tests.importers.test_mlagentbench_results import entry, extra


def key(number: int) -> str:
    return f"logs/agent/task/{number}/env_log/trace.json"


def evaluation(**over: dict) -> dict[str, dict]:
    """Three runs: one that ends at 0.3 after 0.1, one without a score, one out of memory."""
    entries = {
        key(1): entry(key(1), score=[0, 0.1, 0.3], final_score=0.3, score_steps=[0, 5]),
        key(2): entry(key(2), score=[], score_steps=[], final_score=-1,
                      submitted_final_answer=False, extra=extra(json_error=True)),
        key(3): entry(key(3), score=[0.1], score_steps=[], final_score=0.1,
                      extra=extra(oom_error=True)),
    }  # fmt: skip
    return {**entries, **over}


def send(
    podium: Podium, experiment: str, slug: str, document: object, query: str = ""
) -> httpx.Response:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return podium.admin.post(
        f"/v1/experiments/{experiment}/mlagentbench-results?competition={slug}&file=r.json{query}",
        content=body,
    )


def runs(podium: Podium, experiment: str) -> list[dict]:
    return podium.admin.get(f"/v1/runs?experiment={experiment}").json()["items"]


@pytest.fixture
def task(podium: Podium) -> Path:
    """A task in which lower is better, with starter code at 0.5."""
    return podium.competition(toml=baseline("0.5"), leaderboard=None)


def test_the_answer_begins_as_that_to_a_grading_report(podium: Podium, task: Path) -> None:
    taken = send(podium, podium.experiment(), task.name, evaluation()).json()
    assert list(taken) == [
        "imported", "unchanged", "seeds", "mismatches", "scores", "blank_steps", "failures",
    ]  # fmt: skip


def test_runs_scores_and_failures(podium: Podium, task: Path) -> None:
    name = podium.experiment()
    answer = send(podium, name, task.name, evaluation(), "&seed=10")
    assert answer.status_code == 201, answer.text
    taken = answer.json()
    assert (taken["imported"], taken["scores"], taken["blank_steps"]) == (3, 3, 1)
    assert taken["seeds"] == [10, 11, 12]
    assert taken["failures"] == {"none": 1, "malformed_output": 1, "out_of_memory": 1}
    assert taken["mismatches"] == []

    first, second, third = runs(podium, name)
    assert [run["seed"] for run in (first, second, third)] == [10, 11, 12]
    assert (first["state"], first["usage"]["seconds"]) == ("closed", 120.5)
    assert [run["reported_scores"] for run in (first, second, third)] == [2, 0, 1]
    assert second["imported_from"] == f"r.json: {key(2)}"
    scores = podium.admin.get(f"/v1/runs/{first['id']}/reported-scores").json()["items"]
    assert [(s["state"], s["sort"], s["step"], s["score"], s["final"]) for s in scores] == [
        ("reported", "imported", 5, 0.1, False), ("reported", "imported", None, 0.3, True),
    ]  # fmt: skip
    assert scores[0]["evidence"]["file"] == "r.json"
    assert scores[0]["evidence"]["key"] == key(1)

    body = success(podium, name, "threshold=0.3").json()
    assert body["results"] == {"graded": 0, "reported": 0, "imported": 1}
    assert (body["runs"], body["lost"]) == (2, {"out_of_memory": 1})
    found = body["groups"]["all"]
    assert found["without_score"] == 1
    assert (found["success_rate"]["mean"], found["ever_success_rate"]["mean"]) == (50.0, 50.0)
    stricter = success(podium, name, "threshold=0.5").json()["groups"]["all"]
    assert stricter["success_rate"]["mean"] == 0.0
    assert stricter["ever_success_rate"]["mean"] == 50.0


def test_the_same_file_again_changes_nothing(podium: Podium, task: Path) -> None:
    name = podium.experiment()
    send(podium, name, task.name, evaluation())
    before = runs(podium, name)
    again = send(podium, name, task.name, evaluation())
    assert (again.status_code, again.json()["unchanged"]) == (200, 3)
    assert runs(podium, name) == before

    longer = evaluation(**{key(4): entry(key(4), score=[0.2], score_steps=[], final_score=0.2)})
    more = send(podium, name, task.name, longer)
    assert (more.status_code, more.json()["imported"], more.json()["unchanged"]) == (201, 1, 3)
    other = send(podium, name, task.name, evaluation(**{key(1): entry(key(1))}))
    assert other.status_code == 409
    assert len(runs(podium, name)) == 4


def test_a_run_of_that_seed_is_not_overwritten(podium: Podium, task: Path) -> None:
    name = podium.experiment()
    body = {"experiment": name, "competition": task.name, "seed": 2}
    assert podium.admin.post("/v1/runs", json=body).status_code == 201
    refusal = send(podium, name, task.name, evaluation())
    assert refusal.status_code == 409
    assert "seed 2" in refusal.json()["detail"]
    assert [run["seed"] for run in runs(podium, name)] == [2]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (evaluation(**{key(2): {"final_score": "0.5", "score": []}}), "is not a number"),
        (evaluation(**{key(2): entry(key(2), final_score=-0.7)}), "negated"),
        (json.dumps(evaluation()).replace("120.5", "NaN").encode(), "NaN is not a number"),
        (json.dumps(evaluation()).replace("0.3", "1e999").encode(), "too large"),
        (b"{", "line 1"),
        ([], "not an object"),
        (evaluation(**{"": entry("")}), "not a path"),
    ],
)
def test_malformed_files_change_nothing(
    podium: Podium, task: Path, document: object, said: str
) -> None:
    name = podium.experiment()
    refusal = send(podium, name, task.name, document)
    assert refusal.status_code == 422
    assert said in refusal.json()["detail"]
    assert refusal.json()["type"] == "/problems/bad-evaluation"
    assert runs(podium, name) == []


def test_what_does_not_fit_together_is_listed(podium: Podium, task: Path) -> None:
    name = podium.experiment()
    odd = entry(key(1), final_score=0.9, total_time=-1, submitted_final_answer=False)
    taken = send(podium, name, task.name, {key(1): odd}).json()
    assert [each["field"] for each in taken["mismatches"]] == [
        "final_score", "submitted_final_answer", "total_time",
    ]  # fmt: skip
    assert {each["place"] for each in taken["mismatches"]} == {key(1)}
    assert runs(podium, name)[0]["usage"] is None


def test_it_takes_a_known_task_and_a_researcher(podium: Podium, task: Path) -> None:
    name = podium.experiment()
    missing = send(podium, name, "no-such-task", evaluation())
    assert missing.status_code == 404
    assert "podium import folder" in missing.json()["detail"]
    assert send(podium, "nobody", task.name, evaluation()).status_code == 404
    run = podium.run(task)
    path = f"/v1/experiments/{name}/mlagentbench-results?competition={task.name}"
    assert run.client.post(path, json=evaluation()).status_code == 403
    assert runs(podium, name) == []


def test_a_measured_task_needs_no_data_and_its_starter_code_makes_the_baseline(
    podium: Podium,
) -> None:
    task = measured_competition(podium, score=None).name
    agent, starter = podium.experiment(), podium.experiment()
    for name, finals in ((agent, (1.0, 3.0)), (starter, (6.0, 2.0))):
        entries = {
            key(n): entry(key(n), score=[final], score_steps=[], final_score=final)
            for n, final in enumerate(finals)
        }
        assert send(podium, name, task, entries).status_code == 201
    assert success(podium, agent).status_code == 409
    body = success(podium, agent, f"starter={starter}").json()
    # the baseline is 4, so 1 and 3 improve by 75 % and 25 %
    assert body["groups"]["all"]["average_improvement"]["mean"] == 0.5
    assert body["results"]["imported"] == 2


def test_imported_runs_win_no_medals_and_their_exposure_is_unknown(
    podium: Podium, own_tiny: Path
) -> None:
    name = podium.experiment()
    send(podium, name, own_tiny.name, evaluation())
    path = f"/v1/experiments/{name}/medal-rates"
    refusal = podium.admin.get(path)
    assert refusal.status_code == 409
    body = podium.admin.get(f"{path}?padding=fail").json()
    assert body["groups"]["all"]["any_medal"]["mean"] == 0.0
    assert body["exposure"]["policies"] == {}
    assert (body["imported"], body["exposure"]["unknown"]) == (3, 3)
    lines = podium.admin.get(f"/v1/competitions/{own_tiny.name}/results").json()["items"]
    found = {(line["seed"], line["reported_score"], line["reported_sort"]) for line in lines}
    assert found == {(0, 0.3, "imported"), (1, None, None), (2, 0.1, "imported")}
    assert {line["score"] for line in lines} == {None}
