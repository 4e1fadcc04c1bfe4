from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.api.conftest import Podium
from tests.graders.conftest import wait_until

PRIVATE = ("score", "medal", "better", "equal", "worse", "teams", "percentile", "above_median")


@pytest.mark.parametrize("body", ["good", "bad"])
def test_none_says_received_and_nothing_else(
    podium: Podium, tiny: Path, good: bytes, body: str
) -> None:
    run = podium.run(tiny, feedback="none")

    submission = run.submit(good if body == "good" else b"bad").json()

    assert submission["state"] == "received"
    assert submission["settled_at"] is None
    assert submission["problem"] is None
    assert submission["warnings"] == []
    assert submission["grade"] is None


def test_validity_says_graded_or_rejected_and_no_number(
    podium: Podium, tiny: Path, good: bytes
) -> None:
    run = podium.run(tiny, feedback="validity")

    graded, rejected = run.submit(good).json(), run.submit(b"bad").json()

    assert (graded["state"], graded["grade"]) == ("graded", None)
    assert rejected["state"] == "rejected"
    assert rejected["problem"]["violations"]


def test_public_says_the_public_score_alone(podium: Podium, tiny: Path, good: bytes) -> None:
    run = podium.run(tiny, feedback="public")

    grade = run.submit(good).json()["grade"]

    assert grade["public_score"] == pytest.approx(0.12)
    assert [grade[name] for name in PRIVATE] == [None] * len(PRIVATE)


@pytest.fixture
def with_search(podium: Podium) -> Path:
    return podium.competition(rows=40, usage=("Private", "Search", "Public", "Private"))


def with_errors(folder: Path, errors: dict[str, float]) -> bytes:
    """The answers, off by as much as is said for the rows of each usage."""
    with (folder / "private" / "answers.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    cells = [f"{row['id']},{float(row['target']) + errors[row['Usage']]}" for row in rows]
    return "\n".join(["id,target", *cells]).encode()


def test_search_says_the_score_on_the_rows_to_search_on_alone(
    podium: Podium, with_search: Path
) -> None:
    run = podium.run(with_search, feedback="search")
    file = with_errors(with_search, {"Search": 0.4, "Private": 0.07, "Public": 0.2})

    grade = run.submit(file).json()["grade"]
    ledger = run.client.get(f"/v1/runs/{run.id}/exposure").json()

    assert grade["search_score"] == pytest.approx(0.4)
    hidden = (*PRIVATE, "public_score")
    assert [grade[name] for name in hidden] == [None] * len(hidden)
    assert [one["kind"] for one in ledger["disclosed"]] == ["search_score"]
    assert ledger["totals"] == {
        "validations": 0, "search_scores": 1, "public_scores": 0, "private_scores": 0,
        "failures": 0,
    }  # fmt: skip


@pytest.mark.parametrize(("policy", "told"), [("validity", set()), ("public", {"public_score"})])
def test_other_policies_do_not_tell_the_score_to_search_on(
    podium: Podium, with_search: Path, policy: str, told: set[str]
) -> None:
    run = podium.run(with_search, feedback=policy)

    sent = run.submit(with_errors(with_search, {"Search": 0.4, "Private": 0.07, "Public": 0.2}))

    grade = sent.json()["grade"] or {}
    assert {name for name in ("search_score", "public_score") if grade.get(name)} == told


def test_medals_and_places_never_use_rows_to_search_on(podium: Podium, with_search: Path) -> None:
    found = []
    for error in (0.0, 9.0):
        run = podium.run(with_search, feedback="full")
        file = with_errors(with_search, {"Search": error, "Private": 0.07, "Public": 0.2})
        found.append(run.submit(file).json()["grade"])

    assert [grade["search_score"] for grade in found] == pytest.approx([0.0, 9.0])
    assert found[0]["medal"] == found[1]["medal"] == "silver"
    for name in (*PRIVATE, "public_score"):
        assert found[0][name] == found[1][name]


def test_a_researcher_sees_everything_whatever_the_policy(
    podium: Podium, tiny: Path, good: bytes
) -> None:
    run = podium.run(tiny, feedback="none")
    submission = run.submit(good).json()["id"]  # answered at once: `none` has nothing to wait for

    def graded() -> bool:
        state = podium.admin.get(f"/v1/submissions/{submission}").json()["state"]
        return state not in ("queued", "grading")

    wait_until(graded)
    seen = podium.admin.get(f"/v1/submissions/{submission}").json()

    assert seen["state"] == "graded"
    assert seen["grade"]["score"] == pytest.approx(0.12)


def test_the_ledger_has_every_number_that_was_told_once(
    podium: Podium, tiny: Path, good: bytes
) -> None:
    expected = {"none": (0, 0), "validity": (0, 0), "public": (2, 0), "full": (2, 2)}
    for policy, (public, private) in expected.items():
        run = podium.run(tiny, feedback=policy)
        ids = [run.submit(good).json()["id"] for _ in range(2)]
        for _ in range(3):
            run.client.get(f"/v1/submissions/{ids[0]}")
        run.client.get(f"/v1/runs/{run.id}/submissions")
        run.validate(good)
        podium.admin.get(f"/v1/submissions/{ids[0]}")

        ledger = run.client.get(f"/v1/runs/{run.id}/exposure").json()

        assert ledger["policy"] == policy
        assert ledger["totals"] == {
            "validations": 1, "search_scores": 0, "public_scores": public,
            "private_scores": private,
            "failures": 0,
        }  # fmt: skip
        assert len(ledger["disclosed"]) == 1 + public + private
        told = {d["submission"] for d in ledger["disclosed"]} - {None}
        assert told == (set(ids) if public else set())


def test_a_grade_nobody_asked_for_is_not_a_disclosure(
    podium: Podium, tiny: Path, good: bytes
) -> None:
    run = podium.run(tiny, feedback="full")
    path = f"/v1/runs/{run.id}/submissions"
    headers = {"Content-Type": "text/csv", "Prefer": "wait=30"}
    podium.admin.post(path, content=good, headers=headers)

    totals = run.client.get(f"/v1/runs/{run.id}/exposure").json()["totals"]

    assert totals == {
        "validations": 0,
        "search_scores": 0,
        "public_scores": 0,
        "private_scores": 0,
        "failures": 0,
    }


def test_validation_tells_all_problems_and_stores_nothing(
    podium: Podium, tiny: Path, good: bytes
) -> None:
    run = podium.run(tiny)

    valid = run.validate(good)
    invalid = run.validate(b"id,target\nr1,x\n").json()

    assert (valid.status_code, valid.json()["valid"], valid.json()["violations"]) == (200, True, [])
    assert invalid["valid"] is False
    assert {v["code"] for v in invalid["violations"]} == {"row_count", "missing_id", "not_a_number"}
    assert run.client.get(f"/v1/runs/{run.id}/submissions").json()["items"] == []
