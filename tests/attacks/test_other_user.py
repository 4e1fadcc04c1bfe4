"""Another user of the machine, who has an account and no key: a real process with another user id.

Podium runs as the user of the tests, which must be root, so that a process can become another user.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.conftest import WAIT
from tests.attacks.conftest import metric
from tests.attacks.test_server_deaths import competition
from tests.factories import good_submission
from tests.server import PodiumServer

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="NOT TESTED as another user: only root may become one"
)
OTHER_USER = 23456
PROGRAM = Path(__file__).with_name("other_user.py")
LISTENS = "0A"  # the state of a listening TCP socket in /proc/net/tcp


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """A directory that all users may enter, as `/srv` is."""
    path = Path("/dev/shm") / f"podium-other-user-{os.getpid()}"
    path.mkdir(mode=0o755)
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[PodiumServer]:
    """A server whose data directory an admin made with `mkdir`, with a graded submission."""
    (home / "data").mkdir(mode=0o755)
    started = PodiumServer(home / "data", graders=1, migrates=True).start()
    for name, text in (("built-in", None), ("own", metric("return 1.0"))):
        run = competition(started, home / name, metric_py=text, leaderboard=None, usage=None)
        with started.client(run["key"]) as agent:
            body = good_submission(home / name)
            address = f"/v1/runs/{run['id']}/submissions"
            sent = agent.post(address, content=body, headers=WAIT).json()
        assert sent["state"] == "graded", sent
        shutil.rmtree(home / name)
    yield started
    started.stop()


def processes(root: int) -> list[int]:
    """A process and all that it started."""
    found = [root]
    for process in found:
        for task in Path("/proc", str(process), "task").iterdir():
            found += [int(child) for child in (task / "children").read_text().split()]
    return found


def socket_inodes(pids: list[int]) -> set[str]:
    found = set()
    for pid in pids:
        for descriptor in Path("/proc", str(pid), "fd").iterdir():
            try:
                found |= set(re.findall(r"socket:\[(\d+)\]", str(descriptor.readlink())))
            except FileNotFoundError:
                continue  # closed meanwhile
    return found


def listening_ports(inodes: set[str]) -> list[int]:
    """The ports of TCP, and all of UDP, that these sockets have."""
    found = []
    for name in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path("/proc/net", name).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[9] in inodes and (name.startswith("udp") or fields[3] == LISTENS):
                found.append(int(fields[1].rpartition(":")[2], 16))
    return found


def unix_names(inodes: set[str]) -> list[str]:
    """The names of Unix sockets among these; abstract ones begin with @."""
    lines = Path("/proc/net/unix").read_text().splitlines()[1:]
    fields = [line.split() for line in lines]
    return [each[7] for each in fields if each[6] in inodes and len(each) > 7]


def attack(server: PodiumServer, **given: Any) -> dict[str, Any]:
    """What the other user tried and could do."""
    request = {
        "user": OTHER_USER, "directory": str(server.data_dir), "files": [], "processes": [],
        "sockets": [], "ports": [], **given,
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-I", str(PROGRAM)], input=json.dumps(request),
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["is"] == [OTHER_USER] * 3
    return found


def test_nothing_of_the_data_directory_can_be_read_or_changed(server: PodiumServer) -> None:
    names = sorted(
        str(path.relative_to(server.data_dir)) for path in server.data_dir.rglob("*")
    )  # fmt: skip
    answers = [name for name in names if name.endswith("private/answers.csv")]
    assert answers
    assert {"podium.db", "blobs", "competitions", "instance", "lock"} <= set(names)

    found = attack(server, files=names)

    assert len(found["tried"]) > 2 * len(names)
    assert found["could"] == {}


def test_an_empty_directory_that_others_may_read_is_closed_to_them(server: PodiumServer) -> None:
    assert stat.S_IMODE(server.data_dir.stat().st_mode) == 0o700


def test_one_in_use_that_others_may_read_is_told_in_the_log(home: Path) -> None:
    data = home / "open"
    data.mkdir(mode=0o755)
    (data / "README").write_text("ours")
    server = PodiumServer(data, graders=1, migrates=True).start()
    server.kill()

    assert stat.S_IMODE(data.stat().st_mode) == 0o755
    assert "chmod o-rwx" in server.log.read_text()


def test_no_process_can_be_read_or_disturbed(server: PodiumServer) -> None:
    pids = processes(server.process.pid)
    assert len(pids) >= 4  # the server, those that check and grade, and that of the metric.py

    found = attack(server, processes=pids)

    assert len(found["tried"]) > 20 * len(pids)
    assert found["could"] == {}
    assert server.process.poll() is None
    with server.client() as client:
        assert client.get("/readyz").json()["status"] == "ready"


def test_the_same_attempts_succeed_on_a_process_of_his_own(server: PodiumServer) -> None:
    command = ["sleep", "60"]
    with subprocess.Popen(
        command, user=OTHER_USER, group=OTHER_USER, extra_groups=[], cwd="/"
    ) as own:
        found = attack(server, processes=[own.pid])

    tried = {name.partition(": ")[2] for name in found["could"]}
    assert tried >= {
        "read environ", "read maps", "follow cwd", "list its files", "attach to it", "limit it",
        "renice it", "bind it to a processor", "stop it", "end it",
    }  # fmt: skip


def test_nothing_listens_but_http(server: PodiumServer) -> None:
    inodes = socket_inodes(processes(server.process.pid))
    names = unix_names(inodes)

    assert listening_ports(inodes) == [server.port]
    assert attack(server, sockets=names)["could"] == {}
    # What he can reach is the service itself, as a stranger.
    assert list(attack(server, ports=[server.port])["could"]) == [f"connect to port {server.port}"]
    assert httpx.get(f"{server.url}/v1/runs", trust_env=False).status_code == 401


def test_command_lines_and_shared_places_tell_no_key(server: PodiumServer) -> None:
    """What every user may read of a process: its command line; and what lies in /tmp."""
    for pid in processes(server.process.pid):
        assert b"pod_" not in Path("/proc", str(pid), "cmdline").read_bytes()
    open_files = {
        descriptor.resolve()
        for pid in processes(server.process.pid)
        for descriptor in Path("/proc", str(pid), "fd").iterdir()
        if descriptor.exists()
    }
    shared = [
        path for path in open_files
        if path.parts[1] in ("tmp", "var", "dev") and path.is_file()
        and not path.is_relative_to(server.data_dir) and path != server.log
    ]  # fmt: skip
    assert [path for path in shared if path.stat().st_mode & 0o006] == []
