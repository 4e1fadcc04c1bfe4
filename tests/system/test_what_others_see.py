"""What is seen of a run by a harness of another experiment, and of its receipt by the public."""

from __future__ import annotations

import json
import re
import shutil
import time
from pathlib import Path

import pytest

from tests.api.conftest import Podium
from tests.factories import good_submission, write_competition
from tests.system.transcripts import TIME, normalised


@pytest.fixture
def twins(podium: Podium, tmp_path: Path) -> tuple[Path, Path]:
    """One slug, imported twice: two versions with the same files but other answers."""
    slug = podium.folder().name
    shutil.rmtree(podium.folders / slug)
    return tuple(  # type: ignore[return-value]
        write_competition(tmp_path / name / slug, seed=seed)
        for name, seed in (("one", 1), ("two", 2))
    )


def test_a_harness_sees_nothing_of_another_experiments_runs(
    podium: Podium, twins: tuple[Path, Path]
) -> None:
    file = good_submission(twins[0], shift=0.5)

    for folder in twins:
        assert podium.send_folder(folder).status_code == 201
        run = podium.run(folder, feedback="full")
        sent = run.submit(file).json()["id"]
        harness = podium.client(podium.harness_key(podium.experiment()))
        of_run = f"/v1/runs/{run.id}"
        unknown = [of_run, f"{of_run}/submissions", f"/v1/submissions/{sent}"]
        # These are for no harness, of whatever run.
        refused = [f"{of_run}{end}" for end in ("/exposure", "/events", "/trajectory")]
        refused.append(f"/v1/submissions/{sent}/file")
        answers = {path: harness.get(path).status_code for path in (*unknown, *refused)}
        assert answers == dict.fromkeys(unknown, 404) | dict.fromkeys(refused, 403)


@pytest.mark.parametrize("policy", ["none", "validity", "public"])
def test_a_closed_runs_receipt_tells_its_key_and_the_public_nothing(
    podium: Podium, twins: tuple[Path, Path], policy: str
) -> None:
    """Two runs with other answers, and a third whose file is rejected: each adds one entry."""
    file, anybody = good_submission(twins[0], shift=0.5), podium.client()
    seen = []
    rejected = b"id,target\nr1,x\n"
    for folder, status, sent in (
        (twins[0], 201, file), (twins[1], 201, file), (twins[1], 200, rejected),
    ):  # fmt: skip
        assert podium.send_folder(folder).status_code == status
        run = podium.run(folder, feedback=policy)
        submission = run.submit(sent).json()["id"]
        while podium.admin.get(f"/v1/submissions/{submission}").json()["state"] in (
            "queued", "grading",
        ):  # fmt: skip
            time.sleep(0.05)
        podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})
        [receipt] = podium.admin.get(f"/v1/runs/{run.id}/receipts").json()["items"]
        stated = podium.admin.get(f"/v1/receipts/{receipt['id']}").json()["predicate"]
        answers = [run.client.get(f"/v1/runs/{run.id}/receipts")]
        answers += [
            run.client.get(f"/v1/receipts/{receipt['id']}{ending}")
            for ending in ("", ".sig", ".dsse")
        ]
        entry = anybody.get(f"/v1/log/entries?start={receipt['index']}&limit=1")
        proof = anybody.get(f"/v1/log/proofs/inclusion?receipt={receipt['id']}")
        for public in (entry, proof):
            told = TIME.sub("", public.text)  # its digits may be those of a score
            for hidden_fact in (run.id, submission, stated["score"] or "rejected", folder.name):
                assert hidden_fact not in told
        leaf = json.loads(entry.json()["items"][0]["leaf"])
        texts = [normalised(one.status_code, one.headers, one.text) for one in answers]
        shown = [re.sub(receipt["id"], "ID", text) for text in texts]
        seen.append((shown, sorted(leaf), leaf["kind"]))
        assert [one.status_code for one in answers] == [200, 404, 404, 404]
    assert seen[0] == seen[1] == seen[2]
