"""A forked `podium` is to its caller what a started one is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.forkserver import PodiumProcess, run_podium
from tests.server import PodiumServer, free_port

CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("PODIUM_")}
REAL = [sys.executable, "-m", "app.cli"]


@pytest.mark.parametrize(
    "words",
    [
        ["--version"],
        ["--help"],
        ["keys", "--help"],
        ["keys", "list"],
        ["keys", "destroy"],
        ["grade", "no-such-competition", "no-such-file"],
        ["check", "no-such-folder"],
        ["harbor-task", "no-such-competition"],
        ["proxy", "--to", "nonsense", "--key-file", "no-such-file"],
        ["worker", "--concurrency", "0"],
        ["db", "check"],
    ],
    ids=" ".join,
)
def test_output_and_status_are_those_of_the_command(words: list[str], tmp_path: Path) -> None:
    results = []
    for number, start in enumerate((subprocess.run, run_podium)):
        home = tmp_path / str(number)
        home.mkdir()
        done = start(
            [*REAL, *words] if start is subprocess.run else words,
            env={**CLEAN, "PODIUM_DATA_DIR": "data", "COLUMNS": "90"}, cwd=home,
            capture_output=True, text=True,
        )  # fmt: skip
        told = (done.stdout + done.stderr).replace(str(home), "HOME")
        results.append((done.returncode, told, sorted(p.name for p in home.rglob("*"))))

    assert results[0] == results[1]
    assert results[0][1]


def test_it_is_a_child_of_its_caller_with_the_given_descriptors_only(tmp_path: Path) -> None:
    server = PodiumServer(tmp_path / "data").start()
    seen = psutil.Process(server.process.pid)

    assert seen.ppid() == os.getpid()
    assert os.getpgid(seen.pid) == os.getpgid(0)
    assert seen.cwd() == str(Path.cwd())
    assert server.process.stdout is not None
    assert opened(0, seen.pid) == opened(0)
    assert opened(1, seen.pid) == opened(server.process.stdout.fileno())
    assert opened(2, seen.pid) == str(server.log)
    assert opened(server.process.stdout.fileno(), seen.pid) != opened(
        server.process.stdout.fileno()
    )
    server.kill()
    assert server.process.returncode == -signal.SIGKILL
    assert not psutil.pid_exists(seen.pid)


def test_signals_reach_it_and_its_group(tmp_path: Path) -> None:
    with process(tmp_path, start_new_session=True) as started:
        assert os.getsid(started.pid) == started.pid
        os.killpg(started.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, started.pid, os.WSTOPPED)
        started.send_signal(signal.SIGCONT)
        started.terminate()
        assert started.wait(30) == 0


def test_ctrl_c_reaches_it(tmp_path: Path) -> None:
    with process(tmp_path) as started:
        started.send_signal(signal.SIGINT)
        assert started.wait(30) == 0


def test_processes_have_random_numbers_of_their_own(tmp_path: Path) -> None:
    keys = set()
    PodiumServer(tmp_path / "data").start().kill()
    for _ in range(3):
        made = run_podium(
            ["keys", "create", "researcher"],
            env={**CLEAN, "PODIUM_DATA_DIR": str(tmp_path / "data")},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        keys.add(made.stdout)
    assert len(keys) == 3


@pytest.mark.parametrize("name", ["PYTHONHASHSEED", "LC_ALL", "OPENBLAS_NUM_THREADS"])
def test_what_only_a_start_reads_is_refused(name: str) -> None:
    with pytest.raises(AssertionError, match=f"start the command itself: .*{name}"):
        run_podium(["--version"], env={**os.environ, name: "7"})


def test_an_option_that_a_fork_does_not_know_is_refused() -> None:
    with pytest.raises(AssertionError, match="preexec_fn"):
        run_podium(["--version"], preexec_fn=os.getpid)


def process(home: Path, **options: bool) -> PodiumProcess:
    """A proxy, which waits for requests."""
    key = home / "key"
    key.write_text("pod_run_x")
    listen = f"127.0.0.1:{free_port()}"
    words = ["proxy", "--to", "http://127.0.0.1:9", "--key-file", str(key), "--listen", listen]
    started = PodiumProcess(words, stdout=subprocess.PIPE, text=True, **options)
    assert started.stdout is not None
    assert started.stdout.readline()
    return started


def opened(descriptor: int, pid: int | str = "self") -> str:
    """What this descriptor of a process is open on; nothing if it is closed."""
    link = Path(f"/proc/{pid}/fd/{descriptor}")
    return str(link.readlink()) if link.is_symlink() else ""
