"""A regrade that is applied is an entry of the log, and gives runs new receipts."""

from __future__ import annotations

import time

from tests.api.conftest import Podium
from tests.api.test_receipts import checked, close, receipts_of
from tests.api.test_regrades import WHY, apply, regrade, sent, with_wrong_answers
from tests.factories import good_submission


def test_a_regraded_run_has_a_receipt_that_supersedes_the_first(podium: Podium) -> None:
    folder, mended = with_wrong_answers(podium)
    run = podium.run(folder, feedback="none")
    submission = sent(run, good_submission(mended))
    while podium.admin.get(f"/v1/submissions/{submission['id']}").json()["state"] != "graded":
        time.sleep(0.05)
    assert close(podium, run.id) == 200
    [first] = receipts_of(podium, run.id)
    assert podium.send_folder(mended).status_code == 201

    found = apply(podium, regrade(podium, folder, version=2))

    deadline = time.monotonic() + 60
    while len(receipts_of(podium, run.id)) < 2:  # a thread of the server issues it
        assert time.monotonic() < deadline
        time.sleep(0.5)
    before = checked(podium, first["id"])
    [last] = [one for one in receipts_of(podium, run.id) if one["id"] != first["id"]]
    after = checked(podium, last["id"])
    assert "regrade" not in before
    assert (after["regrade"], after["supersedes"]) == (found["id"], first["id"])
    assert (before["competition"]["version"], after["competition"]["version"]) == (1, 2)
    assert abs(float(after["score"])) < 1e-9 < 0.2 < float(before["score"])
    assert (before["standing"]["medal"], after["standing"]["medal"]) == (None, "gold")
    log = podium.client().get("/v1/log/entries", params={"limit": 1000}).json()["items"]
    entry = [one for one in log if one["kind"] == "regrade"][-1]
    act = podium.admin.get(f"/v1/log/entries/{entry['index']}").json()
    assert WHY in str(act)
    assert found["id"] in str(act)


def test_the_log_has_as_many_entries_after_a_regrade_whatever_the_files_were(
    podium: Podium,
) -> None:
    """Otherwise their number tells everybody, and a key of the policy `none`, which were valid."""
    folder, mended = with_wrong_answers(podium)
    runs = [podium.run(folder, feedback="none") for _ in range(3)]
    bad = b"id,target\nr1,none\n"
    for run, files in zip(
        runs, ([good_submission(mended)], [bad], [bad, bad + b"\n"]), strict=True
    ):
        for file in files:
            submission = sent(run, file)
            while podium.admin.get(f"/v1/submissions/{submission['id']}").json()["state"] in (
                "queued", "grading",
            ):  # fmt: skip
                time.sleep(0.05)
        assert close(podium, run.id) == 200
    assert [len(receipts_of(podium, run.id)) for run in runs] == [1, 1, 1]
    assert podium.send_folder(mended).status_code == 201

    found = apply(podium, regrade(podium, folder, version=2))

    deadline = time.monotonic() + 60
    while len(receipts_of(podium, runs[0].id)) < 2 and time.monotonic() < deadline:
        time.sleep(0.5)
    time.sleep(1)  # the others are issued in the same turn
    assert [len(receipts_of(podium, run.id)) for run in runs] == [2, 2, 2]
    stated = [checked(podium, receipts_of(podium, run.id)[-1]["id"]) for run in runs]
    assert [one["outcome"] for one in stated] == ["graded", "rejected", "rejected"]
    assert {one["regrade"] for one in stated} == {found["id"]}
