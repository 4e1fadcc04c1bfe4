"""What commands on runs and keys say of each: its state, its failure, its experiment, its end."""

from __future__ import annotations

import itertools
import json

import pytest

from tests.cli.test_experiments_and_runs import Podium, podium, server, words
from tests.factories import good_submission
from tests.server import PodiumServer

__all__ = ["podium", "server"]


def made_experiment(podium: Podium, name: str) -> str:
    name = f"{name}-{podium.mode}"  # type: ignore[attr-defined]
    done = podium("experiments", "create", name, "--agent", "a", "--model", "m")
    assert done.returncode == 0, done.stderr
    return name


def made_runs(podium: Podium, experiment: str, *more: object) -> list[dict[str, str]]:
    asked = ("runs", "create", "--experiment", experiment, "--competition", "tiny", "--json")
    done = podium(*asked, *more)
    assert done.returncode == 0, done.stderr
    made: list[dict[str, str]] = json.loads(done.stdout)
    return made


def test_all_open_runs_are_closed_with_a_failure_where_nothing_was_sent(
    podium: Podium, server: PodiumServer
) -> None:
    name = made_experiment(podium, "closing")
    made = made_runs(podium, name, "--seeds", 3)
    sent, archived = made[0]["run"], made[1]["run"]
    with server.client(made[0]["key"]) as agent:
        good = good_submission(server.data_dir.parent / "tiny", shift=0.12)
        headers = {"Content-Type": "text/csv", "Prefer": "wait=30"}
        agent.post(f"/v1/runs/{sent}/submissions", content=good, headers=headers)
    assert podium("runs", "archive", archived, "--reason", "a test").returncode == 0

    def listed(*options: object) -> dict[str, str | None]:
        asked = podium("runs", "list", "--experiment", name, "--json", *options)
        return {one["id"]: one["failure"] for one in json.loads(asked.stdout)}

    assert set(listed("--state", "open")) == {one["run"] for one in made} - {archived}
    assert listed("--state", "closed") == {}
    closed = podium("runs", "close", "--experiment", name, "--failure", "out_of_time")
    assert closed.stdout == "3 runs closed\n", closed.stderr
    assert listed("--state", "open", "--archived") == {}
    assert listed("--state", "closed", "--archived") == {
        one["run"]: None if one["run"] == sent else "out_of_time" for one in made
    }
    made_runs(podium, name, "--first-seed", 9)
    assert podium("runs", "close", "--experiment", name).stdout == "1 run closed\n"


def test_a_new_key_names_the_keys_that_it_revoked(podium: Podium) -> None:
    name = made_experiment(podium, "new-key")
    (run,) = (one["run"] for one in made_runs(podium, name))
    (old,) = json.loads(podium("keys", "list", "--run", run, "--json").stdout)

    beside = json.loads(podium("runs", "new-key", run, "--json").stdout)
    alone = json.loads(podium("runs", "new-key", run, "--revoke-others", "--json").stdout)

    assert (beside["run"], beside["revoked"]) == (run, [])
    assert sorted(alone["revoked"]) == sorted([old["id"], beside["id"]])


def test_the_key_of_one_run_before_an_error_is_told(podium: Podium) -> None:
    name = made_experiment(podium, "one-before")
    made_runs(podium, name, "--first-seed", 1)
    asked = ("runs", "create", "--experiment", name, "--competition", "tiny", "--seeds", 2)
    told = words(podium(*asked).stderr)
    assert "1 run was made before this, and its key is printed." in told


@pytest.mark.parametrize(
    ("options", "status", "told"),
    [
        (("--suite", "mine", "--competition", "tiny"), 1, "not both"), ((), 1, "not both"),
        (("--competition", "tiny", "--seeds", 0), 2, "--seeds"),
        (("--competition", "tiny", "--seeds", 1001), 2, "--seeds"),
    ],
)  # fmt: skip
def test_runs_that_cannot_be_asked_for_are_none(
    podium: Podium, options: tuple[object, ...], status: int, told: str
) -> None:
    done = podium("runs", "create", "--experiment", "none", *options)
    assert (done.returncode, done.stdout) == (status, "")
    assert told in done.stderr


def test_a_harness_has_a_key_of_its_experiment_and_a_key_ends_at_its_time_or_when_revoked(
    podium: Podium,
) -> None:
    name = made_experiment(podium, "of-a-harness")
    asked = ("keys", "create", "harness", "--experiment", name, "--expires", "12h", "--json")
    made = json.loads(podium(*asked).stdout)

    def listed() -> list[str]:
        """The times in the columns of the key: created, expires, revoked."""
        head, *lines = podium("keys", "list", "--role", "harness").stdout.splitlines()
        (line,) = (line for line in lines if line.startswith(made["id"]))
        names = ["created", "expires", "revoked", "name"]
        begins = [head.index(each) for each in names]
        return [line[a:b].strip() for a, b in itertools.pairwise(begins)]

    assert made["experiment"] == name
    created, expires, revoked = listed()
    assert created < expires
    assert revoked == ""
    assert podium("keys", "revoke", made["id"]).stdout == f"revoked {made['id']}\n"
    assert listed()[:2] == [created, expires]
    assert created <= listed()[2] < expires
