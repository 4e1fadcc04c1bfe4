"""The sandbox in processes of its own: what it cuts off, and that it says what it could not."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from app.graders.sandbox import Isolation


def confined(after: str = "", before: str = "") -> dict:
    """What a process that confined itself prints as its `found`."""
    program = f"""
import dataclasses, json, os, platform, resource, socket, sys
from app.graders import kernel, sandbox
{textwrap.dedent(before)}
isolation = sandbox.confine(os.getppid())
found = dataclasses.asdict(isolation)
{textwrap.dedent(after)}
os.write(1, json.dumps(found).encode())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, check=True, timeout=30
    )
    return json.loads(done.stdout)


def test_a_machine_without_a_system_call_filter_is_reported():
    found = confined(before="platform.machine = lambda: 'pdp11'")
    assert not found["processes"]
    assert any("pdp11" in note for note in found["notes"])


def test_a_memory_limit_that_cannot_be_set_is_reported():
    found = confined(
        before="resource.setrlimit(resource.RLIMIT_DATA, (1 << 33, 1 << 33))",
        after="found = dataclasses.asdict(sandbox.limit_memory(isolation, 1 << 20))",
    )
    assert not found["memory"]
    assert any(note.startswith("memory: rlimit") for note in found["notes"])


def test_a_system_that_is_not_linux_promises_nothing():
    found = confined(
        before="sys.platform = 'darwin'",
        after="found = dataclasses.asdict(sandbox.limit_memory(isolation, 100))",
    )
    assert not any(found[name] for name in ("network", "files", "processes", "memory", "orphans"))
    assert {note.split(":")[0] for note in found["notes"]} >= {
        "network", "files", "processes", "memory", "orphans",
    }  # fmt: skip


def test_threads_can_still_be_started():
    found = confined(
        after="""
        import threading
        thread = threading.Thread(target=lambda: found.update(ran=True))
        thread.start(); thread.join()
        """
    )
    assert found["ran"]


def test_priority_is_below_the_servers():
    found = confined(after="found = {'niceness': os.nice(0)}")
    assert found["niceness"] == min(os.nice(0) + 5, 19)


def test_two_graders_promise_what_the_weaker_one_keeps():
    strong = Isolation(network=True, files=True, processes=True, server=True, memory=True)
    weak = Isolation(network=True, notes=("files: landlock: no",))
    assert strong.weakest(weak) == Isolation(network=True, notes=("files: landlock: no",))


def test_this_machine_is_told_about_honestly():
    """Tries what is promised: a promise that is not kept fails here."""
    found = confined(
        after="""
        def works(step):
            try:
                step()
            except OSError:
                return False
            return True
        found["tried"] = {
            "network": works(lambda: socket.create_connection(("127.0.0.1", 9), timeout=1)),
            "files": works(lambda: open("/tmp/podium-sandbox-test", "w")),
            "processes": works(lambda: os.fork() or os._exit(0)),
            "server": works(lambda: open(f"/proc/{os.getppid()}/environ").read()),
        }
        """
    )
    for name, worked in found["tried"].items():
        assert not (found[name] and worked), name


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has seccomp")
def test_linux_keeps_every_promise_here():
    found = confined()
    assert found["processes"], found["notes"]
    assert found["network"], found["notes"]
