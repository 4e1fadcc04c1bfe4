"""The AIDE example with a wrong file or a broken Podium.

AIDE's own search is in tests/clients/packages/test_aide.py; here the file is given.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import Podium, Run
from tests.api.test_faults import FAILS_AT_4321, failing_file
from tests.api.test_grade import BAD_FILES
from tests.clients.conftest import ROOT, ServerAway

SEND = ROOT / "examples" / "aide" / "send.py"


def send(file: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "PODIUM_WAIT_SECONDS": "100", "NO_PROXY": "*"}
    return subprocess.run(
        [sys.executable, str(SEND), str(file)], env=environment | variables, text=True,
        capture_output=True, check=False, timeout=200,
    )  # fmt: skip


def variables_of(podium: Podium, run: Run, **other: str) -> dict[str, str]:
    return {
        "PODIUM_URL": podium.server.url, "PODIUM_RUN": run.id,
        "PODIUM_KEY": run.document["key"], **other,
    }  # fmt: skip


def told(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def states(podium: Podium, run: Run) -> list[str]:
    items = podium.admin.get(f"/v1/runs/{run.id}/submissions").json()["items"]
    return [one["state"] for one in items]


def test_a_good_file_is_graded_and_the_same_file_again_is_no_other_submission(  # type: ignore[no-untyped-def]
    podium, tiny, good, tmp_path
):
    run = podium.run(tiny, feedback="full")
    (tmp_path / "submission.csv").write_bytes(good)

    first, again = (
        told(send(tmp_path / "submission.csv", **variables_of(podium, run))) for _ in range(2)
    )

    assert first == again
    assert first["grade"]["score"] == pytest.approx(0.12)
    assert states(podium, run) == ["graded"]


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"PODIUM_URL": ""}, "Set PODIUM_URL"),
        ({"PODIUM_RUN": ""}, "Set PODIUM_RUN"),
        ({"PODIUM_KEY": ""}, "Set PODIUM_KEY"),
        ({"PODIUM_URL": "podium:7777"}, "PODIUM_URL is 'podium:7777': write an address as http://"),
        ({"PODIUM_URL": "podium"}, "PODIUM_URL is 'podium': write an address as http://"),
        ({"PODIUM_WAIT_SECONDS": "long"}, "PODIUM_WAIT_SECONDS is 'long': write a number"),
    ],
)
def test_a_wrong_variable_is_one_sentence(
    tmp_path: Path, variables: dict[str, str], words: str
) -> None:
    (tmp_path / "submission.csv").write_text("id,y\n1,2\n")
    right = {"PODIUM_URL": "http://127.0.0.1:9", "PODIUM_RUN": "run_x", "PODIUM_KEY": "pod_run_x"}

    done = send(tmp_path / "submission.csv", **right | {"PODIUM_WAIT_SECONDS": "1"} | variables)

    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    """AIDE leaves none if none of its steps made one."""
    missing = send(tmp_path / "submission.csv", PODIUM_RUN="run_x")

    assert missing.returncode == 1
    assert f"{tmp_path}/submission.csv cannot be read: No such file or directory" in missing.stderr
    assert "Traceback" not in missing.stderr


@pytest.mark.parametrize("code", BAD_FILES)
def test_a_bad_file_is_told_with_its_violations(podium, tiny, tmp_path, code):  # type: ignore[no-untyped-def]
    run = podium.run(tiny, feedback="validity")
    (tmp_path / "submission.csv").write_bytes(BAD_FILES[code])

    found = told(send(tmp_path / "submission.csv", **variables_of(podium, run)))

    assert found["state"] == "rejected"
    assert code in {one["code"] for one in found["problem"]["violations"]}
    assert found["grade"] is None


def test_a_fault_of_the_competition_is_no_verdict_on_the_file(podium, tmp_path):  # type: ignore[no-untyped-def]
    competition = podium.competition(metric_py=FAILS_AT_4321)
    run = podium.run(competition, feedback="full")
    (tmp_path / "submission.csv").write_bytes(failing_file(competition))

    found = told(send(tmp_path / "submission.csv", **variables_of(podium, run)))

    assert (found["state"], found["grade"]) == ("failed", None)
    assert found["problem"]["status"] == 500
    assert "not the file's" in found["problem"]["detail"]


def test_a_wrong_key_another_run_and_a_closed_run_are_refused_in_words(  # type: ignore[no-untyped-def]
    podium, tiny, good, tmp_path
):
    run, other, closed, archived = (podium.run(tiny) for _ in range(4))
    podium.admin.patch(f"/v1/runs/{closed.id}", json={"state": "closed"})
    experiment = archived.document["experiment"]
    podium.admin.post(f"/v1/experiments/{experiment}/archive", json={"reason": "a test"})
    file = tmp_path / "submission.csv"
    file.write_bytes(good)

    refused = [
        send(file, **variables_of(podium, run, PODIUM_KEY="pod_run_wrong")),
        send(file, **variables_of(podium, run, PODIUM_RUN=other.id)),
        send(file, **variables_of(podium, closed)),
        send(file, **variables_of(podium, archived)),
    ]

    for done, words in zip(refused, ("401", "404", "closed", "archived"), strict=True):
        assert done.returncode == 1
        assert words in done.stderr
        assert done.stdout == ""
        assert "Traceback" not in done.stderr
    assert [states(podium, one) for one in (run, other, closed, archived)] == [[]] * 4


@pytest.mark.parametrize("kills", [(), (1,)], ids=["away for 10 s", "killed in the middle"])
def test_a_server_away_or_killed_is_waited_for_and_gets_one_submission(
    server_away: ServerAway, kills: tuple[int, ...]
) -> None:
    server = server_away.server.start()
    with server.client() as admin:
        wanted = {"experiment": "e", "competition": server_away.competition, "seed": 0}
        run = admin.post("/v1/runs", json={**wanted, "feedback": "full"}).json()
    server.kill()

    with server_away.comes_back_after(0 if kills else 10, *kills):
        done = send(
            server_away.file, PODIUM_URL=server.url, PODIUM_RUN=run["id"], PODIUM_KEY=run["key"]
        )

    assert told(done)["grade"]["score"] == pytest.approx(0.12)
    with server.client() as admin:
        found = admin.get(f"/v1/runs/{run['id']}").json()
    assert found["submissions"] == {"graded": 1}
    assert server.stop() == 0


def test_a_server_that_stays_away_is_told(tmp_path: Path) -> None:
    (tmp_path / "submission.csv").write_bytes(b"id\n")

    done = send(
        tmp_path / "submission.csv", PODIUM_URL="http://127.0.0.1:9", PODIUM_RUN="r",
        PODIUM_KEY="k", PODIUM_WAIT_SECONDS="3",
    )  # fmt: skip

    assert done.returncode == 1
    assert "http://127.0.0.1:9 cannot be reached" in done.stderr
