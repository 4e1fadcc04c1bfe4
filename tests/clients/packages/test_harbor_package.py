"""The real Harbor loads the folder of `podium harbor-task`; its verifier reads the rewards."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.test_faults import FAILS_AT_4321, failing_file
from tests.api.test_grade import BAD_FILES
from tests.clients.conftest import Environment, ServerAway
from tests.clients.packages.conftest import environment_of_harness
from tests.clients.test_harbor import KEYS, write_task
from tests.factories import good_submission

HARBOR = "harbor==0.25.0"
DRIVER = Path(__file__).with_name("harbor_driver.py")
# Imports of Harbor's modules of tasks and verifiers; its other packages are of clouds.
IMPORTED = ("pathspec", "platformdirs", "pydantic", "shortuuid", "toml", "typing-extensions")


@pytest.fixture(scope="module")
def harbor() -> Iterator[Environment]:
    with environment_of_harness("harbor", *IMPORTED, without_dependencies=(HARBOR,)) as made:
        yield made


def verify(harbor: Environment, task: Path, trials: Path, *cases: dict[str, Any]) -> dict[str, Any]:
    """Let Harbor's verifier grade each file with these variables where Harbor runs."""
    done = harbor.python(str(DRIVER), str(task), str(trials), json.dumps(cases))
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_harbor_loads_the_task_and_reads_what_its_verifier_wrote(  # type: ignore[no-untyped-def]
    podium, experiment, harbor, tmp_path
):
    competition = podium.competition(metric_py=FAILS_AT_4321)
    task = write_task(podium, competition.name, tmp_path / "task", elsewhere=True)
    other, archived = podium.experiment(), podium.experiment()
    keys = {name: podium.harness_key(name) for name in (experiment, other, archived)}
    podium.admin.post(f"/v1/experiments/{archived}/archive", json={"reason": "a test"})
    files = {
        **BAD_FILES, "good": good_submission(competition, shift=0.01),
        "fault": failing_file(competition),
    }  # fmt: skip
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)

    def case(name: str, key: str = keys[experiment], **variables: str) -> dict[str, Any]:
        named = {"PODIUM_KEY": key, "PODIUM_URL": podium.server.url, "PODIUM_TRIAL": "",
                 "PODIUM_SEED": "0", **variables}  # fmt: skip
        return {"submission": str(tmp_path / name), "variables": named}

    found = verify(
        harbor, task, tmp_path / "trials",
        case("good", PODIUM_TRIAL="1"), case("good", PODIUM_TRIAL="1"), case("no-such-file"),
        *(case(code, PODIUM_SEED="1") for code in BAD_FILES),
        case("fault", PODIUM_SEED="2"), case("good", "pod_harness_wrong"),
        case("good", keys[archived]), case("good", keys[other]),
    )  # fmt: skip

    assert found["task"]["instruction"].startswith("# ")
    assert found["task"]["hosts"] == ["127.0.0.1"]
    assert "separate" in found["task"]["mode"].lower()
    first, again, nothing, *rest = found["cases"]
    assert first == again
    assert set(first["rewards"]) == {*KEYS, "percentile"}
    assert first["rewards"]["reward"] == first["rewards"]["gold_medal"] == 1
    assert nothing["rewards"] == dict.fromkeys(KEYS, 0)
    bad, faults, elsewhere = rest[: len(BAD_FILES)], rest[len(BAD_FILES) : -1], rest[-1]
    for one in bad:
        assert one["rewards"] == dict.fromkeys(KEYS, 0) | {"submission_exists": 1}
    assert [one["error"] for one in faults] == ["RewardFileNotFoundError"] * 3
    for fault, words in zip(faults, ("answered 500", "answered 401", "archived"), strict=True):
        assert words in fault["output"]
    assert elsewhere == first  # a key of another experiment makes a run there
    runs = podium.admin.get("/v1/runs", params={"experiment": experiment}).json()["items"]
    assert {one["seed"]: one["submissions"] for one in runs} == {
        0: {"graded": 1}, 1: {"rejected": len(BAD_FILES)}, 2: {"failed": 1}
    }  # fmt: skip
    there = podium.admin.get("/v1/runs", params={"experiment": other}).json()["items"]
    assert [one["submissions"] for one in there] == [{"graded": 1}]


@pytest.mark.parametrize("kills", [(), (1,)], ids=["away for 10 s", "killed in the middle"])
def test_a_server_away_or_killed_is_waited_for_and_gets_one_attempt(  # type: ignore[no-untyped-def]
    podium, tiny, harbor, server_away: ServerAway, tmp_path, kills: tuple[int, ...]
):
    task = write_task(podium, tiny.name, tmp_path / "task", elsewhere=True)
    script = task / "tests" / "test.sh"  # the same task, of the competition of the other server
    script.write_text(script.read_text().replace(tiny.name, server_away.competition))
    server = server_away.server
    variables = {"PODIUM_KEY": server_away.key, "PODIUM_URL": server.url}

    with server_away.comes_back_after(0 if kills else 10, *kills):
        found = verify(
            harbor, task, tmp_path / "trials",
            {"submission": str(server_away.file), "variables": variables},
        )  # fmt: skip

    assert found["cases"][0]["rewards"]["valid_submission"] == 1
    with server.client() as admin:
        (run,) = admin.get("/v1/runs").json()["items"]
    assert run["submissions"] == {"graded": 1}
    assert server.stop() == 0
