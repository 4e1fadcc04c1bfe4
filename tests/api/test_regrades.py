"""Submissions are graded anew: what changes is shown, then applied, and nothing is lost."""

from __future__ import annotations

import csv
import shutil
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import Podium, Run
from tests.api.test_results import rates
from tests.factories import good_submission, sample_submission, write_competition

WHY = "answers of rows 1 to 20 were wrong"
SECONDS = 60
MENDED = """
def score(answers, submission):
    return float((answers["target"] - submission["target"]).abs().mean())
"""


def wait(podium: Podium, regrade: dict[str, Any], state: str = "ready") -> dict[str, Any]:
    """The regrade with its difference, once it has this state."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        found = podium.admin.get(f"/v1/regrades/{regrade['id']}", params={"limit": 1000}).json()
        if found["state"] == state:
            return found
        time.sleep(0.05)
    raise AssertionError(f"not {state}: {found}")


def regrade(podium: Podium, folder: Path, **body: Any) -> dict[str, Any]:
    made = podium.admin.post(f"/v1/competitions/{folder.name}/regrades", json=body)
    assert made.status_code == 201, made.text
    return wait(podium, made.json())


def apply(podium: Podium, found: dict[str, Any], reason: str = WHY) -> dict[str, Any]:
    done = podium.admin.post(f"/v1/regrades/{found['id']}/apply", json={"reason": reason})
    assert done.status_code == 200, done.text
    document: dict[str, Any] = done.json()
    return document


def with_wrong_answers(podium: Podium, wrong: float = 0.3, **given: Any) -> tuple[Path, Path]:
    """An imported competition whose answers are too large by `wrong`; and the mended folder."""
    folder = podium.folder(**given)
    mended = folder.parent / "mended" / folder.name
    shutil.copytree(folder, mended)
    answers = folder / "private" / "answers.csv"
    with answers.open(newline="") as file:
        header, *rows = csv.reader(file)
    with answers.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows([row[0], repr(float(row[1]) + wrong), *row[2:]] for row in rows)
    assert podium.send_folder(folder).status_code == 201
    return folder, mended


def sent(run: Run, body: bytes) -> dict[str, Any]:
    document: dict[str, Any] = run.submit(body).json()
    return document


def show(podium: Podium, submission: dict[str, Any], client: Any = None) -> dict[str, Any]:
    found: dict[str, Any] = (
        (client or podium.admin).get(f"/v1/submissions/{submission['id']}").json()
    )
    return found


def test_the_same_version_gives_the_same_grades_to_the_last_bit(
    podium: Podium, own_tiny: Path
) -> None:
    run = podium.run(own_tiny)
    for shift in (0.1, 1 / 3, 0.7):
        sent(run, good_submission(own_tiny, shift=shift))
    sent(run, b"id,target\nr1,1\n")

    found = regrade(podium, own_tiny)

    assert found["progress"] == {
        "total": 4, "waiting": 0, "graded": 3, "rejected": 1, "failed": 0, "missing": 0,
    }  # fmt: skip
    counts = found["difference"]["submissions"]
    assert (counts["submissions"], counts["equal"]) == (4, 4)
    assert {name: n for name, n in counts.items() if n} == {"submissions": 4, "equal": 4}
    assert (found["changes"], found["difference"]["finals"]) == ([], [])
    (experiment,) = found["difference"]["experiments"]
    assert experiment["before"] == experiment["after"]
    assert experiment["before"]["rates"]["valid_submission"] == 100.0
    listed = podium.admin.get(f"/v1/competitions/{own_tiny.name}/regrades").json()["items"]
    assert [one["id"] for one in listed] == [found["id"]]


def test_mended_answers_change_results_once_they_are_applied(podium: Podium) -> None:
    folder, mended = with_wrong_answers(podium)
    run = podium.run(folder, feedback="full")
    name = run.document["experiment"]
    # 0.3 from the wrong answers, perfect by the right ones; and the other way round.
    wrongly_bad = sent(run, good_submission(mended))
    assert wrongly_bad["grade"]["score"] == pytest.approx(0.3)
    wrongly_good = sent(run, good_submission(mended, shift=0.3))
    assert wrongly_good["grade"]["score"] == pytest.approx(0.0, abs=1e-9)
    podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})
    before = rates(podium, name).json()
    board = podium.admin.get("/v1/medal-rates", params={"experiments": name}).json()
    ledger = podium.admin.get(f"/v1/runs/{run.id}/exposure").json()
    assert before["groups"]["all"]["any_medal"]["mean"] == 100.0
    assert before["regrades"] == []
    assert podium.send_folder(mended).json()["version"] == 2

    found = regrade(podium, folder, version=2)

    counts = found["difference"]["submissions"]
    assert (counts["equal"], counts["scores"], counts["medals"]) == (0, 2, 2)
    assert (counts["medals_won"], counts["medals_lost"]) == (1, 1)
    changes = {one["submission"]: one for one in found["changes"]}
    one = changes[wrongly_bad["id"]]
    assert one["before"]["score"] == wrongly_bad["grade"]["score"]
    assert one["after"]["score"] == pytest.approx(0.0, abs=1e-9)
    assert (one["before"]["medal"], one["after"]["medal"]) == (None, "gold")
    assert one["after"]["better"] == 0 < one["before"]["better"]
    (final,) = found["difference"]["finals"]
    assert (final["run"], final["before"]["submission"]) == (run.id, wrongly_good["id"])
    assert (final["before"]["medal"], final["after"]["medal"]) == ("gold", None)
    (experiment,) = found["difference"]["experiments"]
    assert experiment["before"]["rates"]["any_medal"] == 100.0
    assert experiment["after"]["rates"]["any_medal"] == 0.0
    # Nothing has changed yet.
    assert rates(podium, name).json() == before

    published = datetime.now(UTC).isoformat()
    applied = apply(podium, found)
    after = rates(podium, name).json()
    assert after["groups"]["all"]["any_medal"]["mean"] == 0.0
    assert after["regrades"] == [
        {"id": found["id"], "competition": folder.name, "version": 2,
         "applied_at": applied["applied_at"]},
    ]  # fmt: skip
    board_now = podium.admin.get("/v1/medal-rates", params={"experiments": name}).json()
    assert board["items"][0]["groups"]["all"]["any_medal"]["mean"] == 100.0
    assert board_now["items"][0]["groups"] == after["groups"]
    assert board_now["items"][0]["regrades"] == after["regrades"]
    assert found["id"] in rates(podium, name, accept="text/markdown").text
    assert found["id"] in rates(podium, name, accept="text/csv").text
    listed = podium.admin.get(f"/v1/competitions/{folder.name}/results").json()["items"]
    assert [(row["regrade"], row["medal"]) for row in listed] == [(found["id"], None)]

    then = rates(podium, name, f"as_of={published.replace('+00:00', 'Z')}").json()
    assert then.pop("as_of")
    assert then == {name: value for name, value in before.items() if name != "as_of"}
    boards = {"experiments": name, "as_of": published}
    board_then = podium.admin.get("/v1/medal-rates", params=boards).json()
    assert board_then["items"][0]["groups"] == board["items"][0]["groups"]

    seen = show(podium, wrongly_bad)
    assert (seen["regrade"], seen["grade"]["medal"]) == (found["id"], "gold")
    assert seen["grade"]["competition_version"] == 2
    # The agent was told the first grade, and is told it for good.
    told = show(podium, wrongly_bad, run.client)
    assert (told.get("regrade"), told["grade"]) == (None, wrongly_bad["grade"])
    assert podium.admin.get(f"/v1/runs/{run.id}/exposure").json() == ledger
    harness = podium.client(podium.harness_key(name))
    seen_by_harness = show(podium, wrongly_bad, harness)
    assert "regrade" not in seen_by_harness
    assert seen_by_harness["grade"]["score"] == wrongly_bad["grade"]["score"]

    # A later one takes its place; the difference of the first stays what it was.
    again = regrade(podium, folder)
    assert again["difference"]["submissions"]["medals"] == 2
    apply(podium, again, "the first answers were right after all")
    assert rates(podium, name).json()["groups"] == before["groups"]
    first = podium.admin.get(f"/v1/regrades/{found['id']}", params={"limit": 1000}).json()
    assert first["superseded_at"]
    assert (first["difference"], first["changes"]) == (found["difference"], found["changes"])
    now = podium.admin.get(f"/v1/regrades/{again['id']}").json()
    assert now["replaces"] == found["id"]
    middle = rates(podium, name, f"as_of={applied['applied_at']}").json()
    assert middle["groups"] == after["groups"]


def test_a_rejected_file_can_be_graded_and_a_graded_one_rejected(podium: Podium) -> None:
    narrow = podium.folder(columns={"target": {"kind": "number", "max": 50}})
    moved = podium.folder(slug=narrow.name + "-x", columns={"target": {"kind": "number"}})
    assert podium.send_folder(narrow).status_code == 201
    run = podium.run(narrow)
    name = run.document["experiment"]
    first = sent(run, good_submission(narrow))
    last = sent(run, good_submission(narrow, shift=100.0))
    assert (first["state"], last["state"]) == ("graded", "rejected")
    podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})
    wide = podium.folders / "wide" / narrow.name
    shutil.copytree(moved, wide)
    assert podium.send_folder(wide).json()["version"] == 2

    found = regrade(podium, narrow, version=2)
    counts = found["difference"]["submissions"]
    assert (counts["newly_graded"], counts["equal"]) == (1, 1)
    (change,) = found["changes"]
    assert (change["submission"], change["state_after"]) == (last["id"], "graded")
    # The last valid submission is another one now.
    (final,) = found["difference"]["finals"]
    assert final["before"]["submission"] == first["id"]
    assert final["after"]["submission"] == last["id"]
    apply(podium, found)
    assert show(podium, last)["grade"]["score"] == pytest.approx(100.0)
    assert rates(podium, name).json()["groups"]["all"]["any_medal"]["mean"] == 0.0
    board = podium.admin.get("/v1/medal-rates", params={"experiments": name}).json()
    assert board["items"][0]["groups"]["all"]["any_medal"]["mean"] == 0.0
    # The run's key sees what it was told.
    assert show(podium, last, run.client)["state"] == "rejected"

    back = regrade(podium, narrow, version=1)
    assert back["difference"]["submissions"]["newly_rejected"] == 1
    apply(podium, back)
    seen = show(podium, last)
    assert (seen["state"], seen["grade"], seen["regrade"]) == ("rejected", None, back["id"])
    assert seen["problem"]["violations"][0]["code"] == "out_of_range"
    assert rates(podium, name).json()["groups"]["all"]["any_medal"]["mean"] == 100.0


def test_a_fault_takes_no_result_away_and_a_mended_metric_grades_what_failed(
    podium: Podium,
) -> None:
    folder = podium.folder(metric_py=MENDED, toml="")
    text = (folder / "competition.toml").read_text()
    assert "my_error" in text
    imported = podium.send_folder(folder)
    assert imported.status_code == 201, imported.text
    run = podium.run(folder, feedback="full")
    graded = sent(run, good_submission(folder, shift=0.2))
    assert graded["state"] == "graded"
    picky = folder.parent / "picky" / folder.name
    shutil.copytree(folder, picky)
    # It fails for this one file only, so that the import's own checks pass.
    (picky / "metric.py").write_text(
        MENDED.replace(
            "    return", "    if abs(float((answers['target'] - submission['target']).mean()) "
            "+ 0.2) < 0.01:\n        raise ValueError('broken')\n    return"
        )
    )  # fmt: skip
    assert podium.send_folder(picky).json()["version"] == 2

    found = regrade(podium, folder, version=2)
    assert found["difference"]["submissions"]["newly_failed"] == 1
    assert found["changes"][0]["fault"] == "metric"
    refused = podium.admin.post(f"/v1/regrades/{found['id']}/apply", json={"reason": WHY})
    assert refused.status_code == 409
    assert refused.json()["type"] == "/problems/regrade-has-faults"

    other = podium.run(folder)  # of version 2
    failed = sent(other, good_submission(folder, shift=0.2))
    assert failed["state"] == "failed"
    mended = regrade(podium, folder, version=1)
    counts = mended["difference"]["submissions"]
    assert (counts["newly_graded"], counts["equal"]) == (1, 1)
    apply(podium, mended)
    assert show(podium, failed)["grade"]["score"] == graded["grade"]["score"]


def test_who_may_and_what_is_refused(podium: Podium, own_tiny: Path) -> None:
    path = f"/v1/competitions/{own_tiny.name}/regrades"
    empty = podium.admin.post(path, json={})
    assert (empty.status_code, empty.json()["type"]) == (409, "/problems/nothing-to-regrade")
    run = podium.run(own_tiny)
    one = sent(run, good_submission(own_tiny, shift=0.12))
    researcher = podium.client(podium.researcher_key())
    assert researcher.post(path, json={}).status_code == 403
    assert run.client.post(path, json={}).status_code == 403
    assert podium.admin.post(path, json={"version": 9}).status_code == 404
    assert podium.admin.post(path, json={"version": 0}).status_code == 422
    assert podium.admin.post(path, json={"submission": "sub_x"}).status_code == 404
    assert podium.admin.post("/v1/competitions/nobody/regrades", json={}).status_code == 404

    found = regrade(podium, own_tiny)
    at = f"/v1/regrades/{found['id']}"
    assert researcher.get(at).status_code == 200
    assert run.client.get(at).status_code == 403
    assert researcher.post(f"{at}/apply", json={"reason": WHY}).status_code == 403
    assert podium.admin.post(f"{at}/apply", json={}).status_code == 422
    assert podium.admin.post(f"{at}/apply", json={"reason": ""}).status_code == 422
    for verb in ("apply", "cancel"):
        refused = podium.admin.post(f"{at}/{verb}", json={"reason": " "})
        assert (refused.status_code, "say why" in refused.text) == (422, True)
    assert podium.admin.get(f"{at}?cursor=x").status_code == 422
    assert podium.admin.get("/v1/regrades/rgr_x").status_code == 404

    # Submissions settled since then have to be graded first.
    sent(run, good_submission(own_tiny, shift=0.5))
    assert podium.admin.get(at).json()["progress"]["missing"] == 1
    late = podium.admin.post(f"{at}/apply", json={"reason": WHY})
    assert (late.status_code, late.json()["type"]) == (409, "/problems/regrade-not-ready")
    assert wait(podium, found)["progress"]["total"] == 2
    apply(podium, found)
    for verb in ("apply", "cancel"):
        assert podium.admin.post(f"{at}/{verb}", json={"reason": WHY}).status_code == 409

    alone = regrade(podium, own_tiny, submission=one["id"])
    assert alone["difference"]["submissions"]["equal"] == 1
    refused = podium.admin.post(f"/v1/regrades/{alone['id']}/apply", json={"reason": WHY})
    assert "one submission only" in refused.json()["detail"]
    gone = podium.admin.post(f"/v1/regrades/{alone['id']}/cancel", json={"reason": "seen"})
    assert (gone.json()["state"], gone.json()["reason"]) == ("cancelled", "seen")


def test_a_time_without_results_has_none(podium: Podium, own_tiny: Path) -> None:
    run = podium.run(own_tiny)
    before = datetime.now(UTC).isoformat()
    sent(run, good_submission(own_tiny))
    name = run.document["experiment"]

    assert rates(podium, name).status_code == 200
    then = rates(podium, name, f"as_of={before.replace('+00:00', 'Z')}")
    assert then.status_code == 409
    assert then.json()["missing"][0]["reason"] == "the run is open"
    for no_zone in ("2026-05-01", "2026-05-01T12:00:00"):
        refused = rates(podium, name, f"as_of={no_zone}")
        assert refused.status_code == 422
        assert "expected a time with its zone, such as" in refused.json()["detail"]
    for number in (
        "20260501",
        "2026",
        "1777593600",
        "-1",
        "1e9",
    ):  # seconds since 1970 for Pydantic
        for address in (f"/v1/experiments/{name}/medal-rates", "/v1/medal-rates"):
            refused = podium.admin.get(address, params={"as_of": number})
            assert refused.status_code == 422, number
            assert "expected a time with its zone" in refused.json()["detail"]
    for no_time in ("9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00%2B23:59"):
        refused = rates(podium, name, f"as_of={no_time}")
        assert refused.status_code == 422
        assert "between the years 1 and 9999" in refused.json()["detail"]
    assert rates(podium, name, "as_of=2020-01-01T00:00:00Z").status_code == 409


def test_a_run_learns_nothing_of_a_regrade(podium: Podium) -> None:
    folder, mended = with_wrong_answers(podium)
    run = podium.run(folder, feedback="public")
    sent(run, sample_submission(folder))
    one = sent(run, good_submission(mended))
    addresses = [
        f"/v1/runs/{run.id}", f"/v1/runs/{run.id}/submissions", f"/v1/submissions/{one['id']}",
        f"/v1/runs/{run.id}/exposure", f"/v1/competitions/{folder.name}",
    ]  # fmt: skip
    before = [run.client.get(address).text for address in addresses]
    podium.send_folder(mended)

    apply(podium, regrade(podium, folder, version=2))

    assert [run.client.get(address).text for address in addresses] == before


def test_mended_boards_move_places(podium: Podium) -> None:
    folder = podium.competition()
    run = podium.run(folder)
    sent(run, good_submission(folder, shift=0.12))
    other = folder.parent / "board" / folder.name
    write_competition(other, leaderboard=tuple(0.01 * place for place in range(1, 13)))
    assert podium.send_folder(other).json()["version"] == 2

    counts = regrade(podium, folder, version=2)["difference"]["submissions"]

    assert (counts["scores"], counts["places"], counts["medals_lost"]) == (0, 1, 1)


def test_success_rates_name_the_regrade_on_which_they_rest(podium: Podium) -> None:
    baseline = '[baseline]\nscore = 0.2\nsource = "starter code"\n'
    folder, mended = with_wrong_answers(podium, toml=baseline)
    run = podium.run(folder, feedback="full")
    sent(run, good_submission(mended))
    path = f"/v1/experiments/{run.document['experiment']}/success-rates?padding=fail"
    before = podium.admin.get(path).json()
    assert podium.send_folder(mended).json()["version"] == 2

    found = regrade(podium, folder, version=2)
    apply(podium, found)

    after = podium.admin.get(path).json()
    assert (before["regrades"], before["groups"]["all"]["success_rate"]["mean"]) == ([], 0.0)
    assert [one["id"] for one in after["regrades"]] == [found["id"]]
    assert after["groups"]["all"]["success_rate"]["mean"] == 100.0
    assert found["id"] in podium.admin.get(path, headers={"Accept": "text/markdown"}).text
