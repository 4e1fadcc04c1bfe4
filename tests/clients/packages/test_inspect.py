"""podium-inspect with the real Inspect AI and its mock model, against a real server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import Podium
from tests.api.test_faults import FAILS_AT_4321, failing_file
from tests.api.test_grade import BAD_FILES
from tests.clients.conftest import Environment, ServerAway
from tests.clients.packages.test_wheels import look_at
from tests.factories import good_submission
from tests.forkserver import run_podium

DRIVER = Path(__file__).with_name("inspect_driver.py")
ZEROS = dict.fromkeys(
    ("valid_submission", "above_median", "any_medal", "gold_medal", "silver_medal", "bronze_medal"),
    False,
)  # fmt: skip


@pytest.fixture
def inspected(podium: Podium, experiment: str, inspect_environment: Environment) -> Environment:
    """The environment with the key of a harness."""
    return inspect_environment.having(
        PODIUM_URL=podium.server.url, PODIUM_KEY=podium.harness_key(experiment), NO_PROXY="*",
        HOME=str(inspect_environment.directory),
    )  # fmt: skip


def evaluate(place: Environment, *cases: dict[str, Any], **variables: str) -> list[Any]:
    """Evaluate each case in one process of the environment: see inspect_driver.py."""
    done = place.python(str(DRIVER), json.dumps(cases), **variables)
    assert done.returncode == 0, done.stderr + done.stdout
    found: list[Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def runs_of(podium: Podium, experiment: str) -> dict[tuple[str, int], dict[str, int]]:
    found = podium.admin.get("/v1/runs", params={"experiment": experiment}).json()["items"]
    return {(one["competition"], one["seed"]): one["submissions"] for one in found}


def harbor_folder(podium: Podium, competition: Path, folder: Path) -> None:
    remote = {"PODIUM_URL": podium.server.url, "PODIUM_KEY": podium.server.key}
    run_podium(
        ["harbor-task", competition.name,
         str(folder / competition.name)],
        env={**podium.server.environment, **remote}, check=True, capture_output=True,
    )  # fmt: skip


def test_an_agent_works_on_two_competitions_and_the_log_is_scored_again(  # type: ignore[no-untyped-def]
    podium, experiment, inspected, tmp_path
):
    commands = {}
    for name, content in (("good", None), ("bad", BAD_FILES["missing_id"])):
        competition = podium.folder(f"inspect-{name}")
        (competition / "description.md").write_text(f"# The {name} one\n\nPredict `target`.\n")
        assert podium.send_folder(competition).status_code == 201
        harbor_folder(podium, competition, tmp_path / "tasks")
        file = tmp_path / f"{name}.csv"
        file.write_bytes(content or good_submission(competition, shift=0.01))
        commands[f"The {name} one"] = f"test -f data/train.csv && cp {file} submission.csv"
    logs = tmp_path / "logs"

    (first,) = evaluate(
        inspected,
        {"folder": str(tmp_path / "tasks"), "commands": commands, "epochs": 2, "logs": str(logs)},
    )

    assert not [one["error"] for one in first["samples"].values() if one["error"]]
    good, bad = first["samples"]["inspect-good 1"], first["samples"]["inspect-bad 1"]
    assert good["value"]["valid_submission"] is good["value"]["any_medal"] is True
    assert good["metadata"]["score"] == pytest.approx(0.01)
    assert bad["value"] == ZEROS
    assert "missing_id" in {one["code"] for one in bad["metadata"]["violations"]}
    assert "missing in column 'id'" in bad["explanation"]
    assert first["metrics"]["valid_submission"] == first["metrics"]["any_medal"] == 0.5
    counted = {
        ("inspect-good", 0): {"graded": 1}, ("inspect-good", 1): {"graded": 1},
        ("inspect-bad", 0): {"rejected": 1}, ("inspect-bad", 1): {"rejected": 1},
    }  # fmt: skip
    assert runs_of(podium, experiment) == counted
    (log,) = logs.iterdir()
    assert inspected.variables["PODIUM_KEY"] not in log.read_text()

    other = podium.experiment()
    score = (
        "inspect", "score", str(log), "--display", "none", "--scorer",
        "podium_inspect/podium_scorer", "--action", "overwrite", "--output-file",
    )  # fmt: skip
    again = inspected.run(*score, str(tmp_path / "again.json"))
    elsewhere = inspected.run(
        *score, str(tmp_path / "elsewhere.json"), PODIUM_KEY=podium.harness_key(other)
    )

    assert again.returncode == elsewhere.returncode == 0, again.stderr + elsewhere.stderr
    document = json.loads((tmp_path / "again.json").read_text())
    scores = {one["id"]: one["scores"]["podium_scorer"] for one in document["samples"]}
    assert scores["inspect-good"]["value"] == good["value"]
    assert scores["inspect-bad"]["value"] == bad["value"]
    assert runs_of(podium, experiment) == runs_of(podium, other) == counted


def test_a_bad_file_is_a_score_with_its_violations_and_a_fault_is_none(  # type: ignore[no-untyped-def]
    podium, inspected, tmp_path
):
    competition = podium.competition(metric_py=FAILS_AT_4321)
    files = {
        **BAD_FILES, "good": good_submission(competition, shift=0.12),
        "fault": failing_file(competition), "no_file": None, "directory": b"",
    }  # fmt: skip
    samples = {}
    for name, content in files.items():
        samples[name] = {"competition": competition.name}
        if content is not None:
            (tmp_path / name).write_bytes(content)
            place = "submission.csv/x" if name == "directory" else "submission.csv"
            samples[name]["files"] = {place: str(tmp_path / name)}

    (found,) = evaluate(inspected, {"samples": samples, "logs": str(tmp_path)})

    for code in BAD_FILES:
        assert found["samples"][f"{code} 1"]["value"] == ZEROS
        violations = found["samples"][f"{code} 1"]["metadata"]["violations"]
        assert code in {one["code"] for one in violations}
    for name in ("no_file", "directory"):
        nothing = found["samples"][f"{name} 1"]
        assert nothing["value"] == ZEROS
        assert nothing["explanation"] == "There is no file submission.csv."
    assert found["samples"]["good 1"]["metadata"]["score"] == pytest.approx(0.12)
    fault = found["samples"]["fault 1"]
    assert fault["value"] is None
    assert "500: " in fault["error"]


def test_a_wrong_key_another_experiment_or_an_archived_one_is_an_error(  # type: ignore[no-untyped-def]
    podium, experiment, inspected, tiny, good, tmp_path
):
    (tmp_path / "good.csv").write_bytes(good)
    other, archived = podium.experiment(), podium.experiment()
    key_of_archived = podium.harness_key(archived)
    podium.admin.post(f"/v1/experiments/{archived}/archive", json={"reason": "a test"})
    samples = {
        "s": {"competition": tiny.name, "files": {"submission.csv": str(tmp_path / "good.csv")}}
    }

    def case(variables: dict[str, str], **arguments: Any) -> dict[str, Any]:
        return {"samples": samples, "logs": str(tmp_path / "logs"), "variables": variables,
                "arguments": arguments}  # fmt: skip

    found = evaluate(
        inspected,
        case({"PODIUM_KEY": "pod_harness_wrong"}),
        case({"PODIUM_KEY": ""}),
        case({"PODIUM_KEY": podium.harness_key(other)}, experiment=experiment),
        case({"PODIUM_KEY": key_of_archived}),
        case({}, url="http://127.0.0.1:9", wait=0.5),
        case({"PODIUM_KEY": podium.harness_key(other)}),
        INSPECT_ASYNC_BACKEND="trio",  # Inspect's other one
    )

    *faults, right = [one["samples"]["s 1"] for one in found]
    assert [one["value"] for one in faults] == [None] * 5
    words = ["401: ", "set PODIUM_KEY", "404: ", "archived", "does not answer"]
    for fault, word in zip(faults, words, strict=True):
        assert word in fault["error"]
    assert right["metadata"]["score"] == pytest.approx(0.12)
    assert runs_of(podium, experiment) == runs_of(podium, archived) == {}


def test_a_server_that_is_away_or_killed_is_waited_for_or_asked_later(
    inspect_environment: Environment, server_away: ServerAway, tmp_path: Path
) -> None:
    """It comes back after ten seconds, and is killed again while samples are scored."""
    place = inspect_environment.having(
        PODIUM_URL=server_away.server.url, PODIUM_KEY=server_away.key, NO_PROXY="*",
        HOME=str(inspect_environment.directory),
    )  # fmt: skip
    samples = {
        "s": {
            "competition": server_away.competition,
            "files": {"submission.csv": str(server_away.file)},
        }
    }
    folder = server_away.file.parent / server_away.competition
    many = {}
    for number in range(12):
        path = tmp_path / f"{number}.csv"
        path.write_bytes(good_submission(folder, shift=0.01 * (number + 1)))
        many[str(number)] = {**samples["s"], "files": {"submission.csv": str(path)}}
    (impatient,) = evaluate(
        place, {"samples": samples, "logs": str(tmp_path / "first"), "arguments": {"wait": 1}}
    )
    with server_away.comes_back_after(10, 1):
        (patient,) = evaluate(
            place, {"samples": many, "logs": str(tmp_path / "second"), "arguments": {"wait": 200}}
        )

    assert impatient["samples"]["s 1"]["value"] is None
    assert "does not answer" in impatient["samples"]["s 1"]["error"]
    for number in range(12):
        score = patient["samples"][f"{number} 1"]["metadata"]["score"]
        assert score == pytest.approx(0.01 * (number + 1))
    with server_away.server.client() as admin:
        (run,) = admin.get("/v1/runs").json()["items"]
        assert run["submissions"] == {"graded": 12}
    (log,) = (tmp_path / "first").iterdir()
    later = place.run(
        "inspect", "score", str(log), "--display", "none", "--output-file",
        str(tmp_path / "later.json"), "--scorer", "podium_inspect/podium_scorer",
    )  # fmt: skip
    assert later.returncode == 0, later.stderr
    (sample,) = json.loads((tmp_path / "later.json").read_text())["samples"]
    assert sample["scores"]["podium_scorer"]["metadata"]["score"] == pytest.approx(0.12)
    assert server_away.server.stop() == 0


def test_podium_inspect_is_found_by_inspect(inspect_environment: Environment) -> None:
    look_at(inspect_environment, "podium-inspect")

    listed = inspect_environment.python(
        "-c",
        "import inspect_ai.scorer\n"
        "from inspect_ai._util.registry import registry_lookup as found\n"
        "assert found('scorer', 'podium_inspect/podium_scorer')\n"
        "assert found('task', 'podium_inspect/competitions')",
    )  # fmt: skip
    assert listed.returncode == 0, listed.stderr
