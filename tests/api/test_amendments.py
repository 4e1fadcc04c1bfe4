"""Experiments are amended and imported results withdrawn; what was before stays readable."""

from __future__ import annotations

import random
from datetime import UTC, datetime

from tests.api.conftest import Podium
from tests.api.test_results import podium, rates  # noqa: F401
from tests.grading_reports import random_report, suites

WHY = "the paper names another model"
SUITE = "suite=mle-bench-dev"


def history(podium: Podium, name: str, query: str = ""):  # noqa: F811
    found = podium.admin.get(f"/v1/experiments/{name}/amendments?{query}")
    assert found.status_code == 200, found.text
    return found.json()


def test_an_amended_experiment_keeps_what_it_was(podium: Podium) -> None:  # noqa: F811
    name = podium.experiment()
    path = f"/v1/experiments/{name}"
    before = podium.admin.get(path).json()
    first = podium.admin.patch(
        path, json={"reason": WHY, "model": "m-2", "resources": {"hours": 24, "cost_usd": 3.5}}
    )
    assert first.status_code == 200, first.text
    assert first.json()["before"] == {
        "model": before["model"], "resources": before["resources"],
    }  # fmt: skip
    podium.admin.patch(path, json={"reason": "typed wrongly", "resources": {"hours": 12}})
    now = podium.admin.get(path).json()
    assert now["model"] == "m-2"
    assert (now["resources"]["hours"], now["resources"]["cost_usd"]) == (12, 3.5)
    assert now["agent"] == before["agent"]

    page = history(podium, name, "limit=1")
    assert [one["reason"] for one in page["items"]] == [WHY]
    rest = history(podium, name, f"cursor={page['next_cursor']}")["items"]
    assert [one["reason"] for one in rest] == ["typed wrongly"]
    assert rest[0]["before"]["resources"]["hours"] == 24
    assert rest[0]["after"]["resources"]["hours"] == 12
    assert rest[0]["by"]

    same = podium.admin.patch(path, json={"reason": "again", "model": "m-2"})
    assert same.status_code == 422
    assert "Nothing would change" in same.json()["detail"]
    assert podium.admin.patch(path, json={"model": "m-3"}).status_code == 422
    assert podium.admin.patch("/v1/experiments/nobody", json={"reason": "x", "model": "m"}
                              ).status_code == 404  # fmt: skip
    assert podium.admin.get(f"{path}/amendments?cursor=x").status_code == 422


def test_withdrawn_results_do_not_count_and_can_be_imported_again(
    podium: Podium,  # noqa: F811
) -> None:
    name = podium.experiment()
    reports = [random_report(suites()["mle-bench-dev"], random.Random(n)) for n in range(3)]
    path = f"/v1/experiments/{name}/grading-reports"
    for seed in range(2):
        answer = podium.admin.post(f"{path}?seed={seed}", json=reports[seed])
        assert answer.status_code == 201, answer.text
    board = f"/v1/medal-rates?{SUITE}&experiments={name}"
    before = podium.admin.get(board).json()["items"][0]
    assert (before["seeds"], before["withdrawn"]) == (2, 0)
    # Another result for the same seed is refused until the wrong one is withdrawn.
    assert podium.admin.post(f"{path}?seed=1", json=reports[2]).status_code == 409

    body = {"reason": "graded with a wrong split", "seed": 1}
    taken = podium.admin.post(f"/v1/experiments/{name}/withdraw-imports", json=body)
    assert taken.status_code == 200, taken.text
    count = len(suites()["mle-bench-dev"])
    assert taken.json()["results"] == count
    kept = taken.json()["before"]["results"]
    assert {one["competition"] for one in kept} == set(suites()["mle-bench-dev"])
    assert {one["seed"] for one in kept} == {1}
    assert [one["document"] for one in sorted(kept, key=lambda one: one["competition"])] == sorted(
        reports[1]["competition_reports"], key=lambda one: one["competition_id"]
    )

    after = podium.admin.get(board).json()["items"][0]
    assert (after["seeds"], after["withdrawn"]) == (1, count)
    assert f"{count} imported results were withdrawn" in rates(
        podium, name, SUITE, "text/markdown"
    ).text  # fmt: skip

    assert podium.admin.post(f"{path}?seed=1", json=reports[2]).status_code == 201
    corrected = podium.admin.get(board).json()["items"][0]
    assert corrected["seeds"] == 2
    # Whoever asks again gets the new results, not what was kept of the withdrawn ones.
    assert corrected["groups"] == rates(podium, name, SUITE).json()["groups"]
    assert corrected["groups"] != before["groups"]
    gone = podium.admin.post(
        f"/v1/experiments/{name}/withdraw-imports", json={"reason": "x", "seed": 9}
    )
    assert gone.status_code == 404


def test_what_was_published_stays_as_it_was(podium: Podium) -> None:  # noqa: F811
    admin = podium.admin
    name, other = podium.experiment(), podium.experiment()
    reports = [random_report(suites()["mle-bench-dev"], random.Random(n)) for n in range(5)]
    for seed in range(4):
        path = f"/v1/experiments/{(name, other)[seed % 2]}/grading-reports"
        assert admin.post(f"{path}?seed={seed // 2}", json=reports[seed]).status_code == 201
    published = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    addresses = [
        f"/v1/medal-rates?{SUITE}",
        f"/v1/experiments/{name}/medal-rates?{SUITE}",
        f"/v1/experiments/{name}/scores?{SUITE}&padding=fail",
        f"/v1/compare?a={name}&b={other}&{SUITE}",
        "/v1/suites/mle-bench-dev/items?padding=fail",
    ]

    def documents() -> list[str]:
        answers = [
            admin.get(f"{address}&as_of={published}", headers={"Accept": form})
            for address in addresses
            for form in ("application/json", "text/markdown", "text/csv")
        ]
        assert [answer.status_code for answer in answers] == [200] * len(answers)
        return [answer.text for answer in answers]

    before = documents()
    amended = {"reason": WHY, "agent": "another", "model": "m-9", "resources": {"hours": 12}}
    assert admin.patch(f"/v1/experiments/{name}", json=amended).status_code == 200
    amended = {"reason": "typed wrongly", "model": "m-10"}
    assert admin.patch(f"/v1/experiments/{name}", json=amended).status_code == 200
    body = {"reason": "graded with a wrong split", "seed": 1}
    withdrawn = admin.post(f"/v1/experiments/{name}/withdraw-imports", json=body)
    assert withdrawn.status_code == 200
    path = f"/v1/experiments/{name}/grading-reports?seed=1"
    assert admin.post(path, json=reports[4]).status_code == 201
    gone = admin.post(f"/v1/experiments/{other}/archive", json={"reason": "superseded"})
    assert gone.status_code == 200, gone.text

    assert documents() == before
    now = rates(podium, name, SUITE, "text/markdown").text
    assert "m-10" in now
    assert "m-10" not in before[1] + before[4]
    assert other not in admin.get(f"/v1/medal-rates?{SUITE}").text


def test_a_blank_reason_is_refused(podium: Podium) -> None:  # noqa: F811
    path = f"/v1/experiments/{podium.experiment()}"
    for answer in (
        podium.admin.patch(path, json={"reason": " ", "model": "m-2"}),
        podium.admin.post(f"{path}/withdraw-imports", json={"reason": " "}),
    ):
        assert answer.status_code == 422
        assert "say why" in answer.json()["detail"]
