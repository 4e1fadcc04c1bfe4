"""The recipe of docs/cluster.md for machines without Docker and root: its very commands, run."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.api.conftest import WAIT
from tests.distributed.cluster import await_that
from tests.factories import good_submission, write_competition
from tests.postgres import WITHOUT, NoPostgresError, server_account, server_programs
from tests.server import KEY, free_ports

PAGE = (Path(__file__).parents[2] / "docs" / "cluster.md").read_text()
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
START_SECONDS = 120


def without_root() -> list[str]:
    """How to begin a command that root's tests run as somebody else.

    PostgreSQL refuses root. In a namespace where root is called otherwise, it is an ordinary user
    whom root's files belong to: this checkout may lie below a directory that is root's alone.
    """
    if not (account := server_account()):
        return []
    command = [
        "unshare", "--user", f"--map-user={account['user']}", f"--map-group={account['group']}",
    ]  # fmt: skip
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode != 0:
        raise NoPostgresError("root runs the tests, and may not make a user namespace")
    return command


class Home:
    """A user's home on a machine without root: where the page's blocks run."""

    def __init__(self, user: list[str]) -> None:
        # Not below pytest's directories: a socket's path has at most 107 bytes.
        self.path = Path(tempfile.mkdtemp(prefix="podium-home-"))
        self._user = user
        told = ("5432", "7777", "7778")
        self.ports = dict(zip(told, map(str, free_ports(len(told))), strict=True))
        self._groups: list[int] = []
        source = self.path / "podium-src"
        source.mkdir()
        (source / ".venv").symlink_to(sys.prefix)
        write_competition(source / "competitions" / "tiny")

    def run(self, block: str) -> str:
        """Run a block as it stands, but for the ports; gives what it printed."""
        for told, free in self.ports.items():
            block = re.sub(rf"\b{told}\b", free, block)
        with (self.path / "out").open("wb") as out:
            process = subprocess.Popen(
                [*self._user, "bash", "-euc", block], cwd=self.path, env=self.environment,
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                start_new_session=True,
            )  # fmt: skip
        self._groups.append(process.pid)
        status = process.wait(START_SECONDS)
        said = (self.path / "out").read_text()
        assert status == 0, f"{block}\n{said}\n{self.logs()}"
        return said

    @property
    def environment(self) -> dict[str, str]:
        programs = f"{server_programs()}:{os.environ.get('PATH', os.defpath)}"
        # In a checkout of one's own the competitions are those beside the package.
        competitions = str(self.path / "podium-src" / "competitions")
        return {
            "HOME": str(self.path),
            "TMPDIR": str(self.path),
            "PATH": programs,
            "PODIUM_COMPETITIONS_DIR": competitions,
        }

    def logs(self) -> str:
        return "\n".join(
            f"== {log.name}\n{log.read_text()[-2000:]}"
            for log in sorted((self.path / "podium").glob("*.log"))
        )

    def ended(self) -> bool:
        """Whether nothing runs any more whose number the page's scripts wrote down."""
        pids = [int(file.read_text()) for file in (self.path / "podium").glob("*.pid")]
        return not any(Path(f"/proc/{pid}").exists() for pid in pids)

    def remove(self) -> None:
        for group in self._groups:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
        shutil.rmtree(self.path, ignore_errors=True)


@pytest.fixture
def home() -> Iterator[Home]:
    if os.environ.get(WITHOUT) == "1":
        pytest.skip(f"NOT TESTED ON POSTGRESQL, because {WITHOUT}=1")
    try:
        server_programs()
        user = without_root()
    except NoPostgresError as error:
        pytest.skip(f"NOT TESTED: {error}")
    made = Home(user)
    yield made
    made.remove()


def test_the_recipe_makes_a_cluster_that_grades(home: Home) -> None:
    database, settings, scripts, start, look, stop, end = BLOCKS
    for block in (database, settings, scripts, start):
        home.run(block)
    servers = [f"http://localhost:{home.ports[port]}" for port in ("7777", "7778")]
    with contextlib.ExitStack() as stack:
        first, second = (
            stack.enter_context(httpx.Client(base_url=url, timeout=90, trust_env=False))
            for url in servers
        )
        await_that(lambda: is_ready(first) and is_ready(second), home.logs(), START_SECONDS)
        await_that(lambda: consumers(first) == 4, home.logs(), START_SECONDS)
        seen = home.run(look)
        (key,) = KEY.findall(seen)
        admin = {"Authorization": f"Bearer {key}"}
        experiment = {"name": "e", "agent": "a", "model": "m"}
        assert first.post("/v1/experiments", json=experiment, headers=admin).status_code == 201
        wanted = {"experiment": "e", "competition": "tiny", "seed": 0, "feedback": "full"}
        run = first.post("/v1/runs", json=wanted, headers=admin).json()
        answer = second.post(
            f"/v1/runs/{run['id']}/submissions",
            content=good_submission(home.path / "podium-src" / "competitions" / "tiny"),
            headers={**WAIT, "Authorization": f"Bearer {run['key']}"},
        )
        home.run(stop)
        await_that(home.ended, home.logs())
        home.run(end)

    assert (answer.status_code, answer.json()["state"]) == (201, "graded")
    assert seen.count('"status":"ready"') == 2
    assert "Traceback" not in home.logs()


def is_ready(client: httpx.Client) -> bool:
    try:
        return client.get("/readyz").status_code == 200
    except httpx.TransportError:
        return False


def consumers(client: httpx.Client) -> int:
    found = re.match(r"\d+", client.get("/readyz").json()["workers"])
    return int(found.group()) if found else 0
