"""The sandbox in processes of its own: what it cuts off, and that it says what it could not."""

import dataclasses
import json
import os
import subprocess
import sys
import textwrap
import threading

import pytest

from app.graders.walls import landlock
from app.graders.walls.isolation import WALLS, Isolation
from app.graders.walls.sandbox import JobWalls

ALL_WALLS = Isolation(**dict.fromkeys(WALLS, True))


def confined(after: str = "", before: str = "") -> dict:
    """The `found` of a process that confined itself."""
    program = f"""
import dataclasses, json, os, platform, resource, socket, sys
from app.graders.walls import landlock, sandbox, seccomp, self_test, syscalls
{textwrap.dedent(before)}
isolation = dataclasses.asdict(self_test.isolation(os.getppid()))
notes = map(str, sandbox.confine(os.getppid()))
found = isolation | {{"notes": [*isolation["notes"], *notes]}}
{textwrap.dedent(after)}
os.write(1, json.dumps(found).encode())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, check=True, timeout=60
    )
    return json.loads(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these walls")
def test_this_machine_has_every_wall_of_a_job():
    found = confined(
        """
        try:
            found["forked"] = os.fork()
        except PermissionError:
            found["forked"] = None
        """
    )
    missing = [name for name in WALLS if not found[name] and name not in {"memory", "orphans"}]
    assert not missing, found["notes"]
    assert found["forked"] is None  # only a parent of jobs starts processes


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has core dumps of this kind")
def test_neither_a_grader_nor_a_job_of_it_leaves_a_core_dump():
    """A program that gets core dumps, such as Ubuntu's, gets them whatever their limit is."""
    program = """
import os
from app.graders.walls import sandbox, syscalls
sandbox.confine(os.getppid(), starts_processes=True)
job = os.fork()
is_dumpable = syscalls.libc().prctl(3, 0, 0, 0, 0)
if not job:
    os._exit(is_dumpable)
print(is_dumpable, os.waitstatus_to_exitcode(os.waitpid(job, 0)[1]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, check=True, timeout=60
    )
    assert done.stdout == b"0 0\n"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these walls")
@pytest.mark.parametrize("killed", [2, 3])
def test_a_self_test_that_is_killed_is_tried_again(killed: int):
    """It may be killed for want of memory, and what it finds holds until the server ends."""
    found = confined(
        before=f"""
        import signal
        forks = []
        os.register_at_fork(
            before=lambda: forks.append(1),
            after_in_child=lambda: len(forks) <= {killed} and os.kill(os.getpid(), signal.SIGKILL),
        )
        """
    )
    assert found["network"] is (killed == 2)
    assert ("self-test: it ended without a result" in found["notes"]) is (killed == 3)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these walls")
def test_the_walls_are_there_without_a_directory_for_temporary_files():
    """As where the file system is read only: this process may write no byte to a file."""
    found = confined(before="resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))")

    assert not [note for note in found["notes"] if note.startswith("self-test")]
    assert (found["files"], found["reading"], found["server"]) == (True, True, True)


def test_a_process_with_two_threads_puts_up_no_walls():
    """Landlock would restrict one of them alone."""
    walls, go_on = JobWalls((), None), threading.Event()
    thread = threading.Thread(target=go_on.wait)
    thread.start()
    try:
        with pytest.raises(RuntimeError, match="a thread before it is locked in"):
            walls.put_up()
    finally:
        go_on.set()
        thread.join()
        walls.close()


def test_a_machine_without_a_system_call_filter_is_reported():
    found = confined(
        before="platform.machine = lambda: 'pdp11'",
        after="""
        def refused(step):
            try:
                step()
            except PermissionError:
                return True
            return False

        found["landlock"] = landlock.supported_version()
        found["tcp"] = refused(lambda: socket.socket().bind(("", 0)))
        found["signals"] = refused(lambda: os.kill(os.getppid(), 0))
        """,
    )
    # What Landlock refuses by itself, from these versions on.
    assert found["tcp"] or found["landlock"] < 4
    assert found["signals"] or found["landlock"] < 6
    assert not found["processes"]
    assert not found["limits"]
    assert any("pdp11" in note for note in found["notes"])


@pytest.mark.parametrize("why", ["ENOSYS", "EOPNOTSUPP"])
def test_a_kernel_without_landlock_keeps_files_from_being_written_all_the_same(why):
    found = confined(
        before=f"""
        import errno
        def missing(readable=None):
            raise OSError(errno.{why}, "no Landlock")
        landlock.prepare_rules = missing
        """
    )
    assert not found["reading"]
    assert any(note.startswith("reading: ") for note in found["notes"])
    assert found["files"], found["notes"]
    assert found["processes"]
    assert found["limits"]


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
def test_older_versions_of_landlock_hold_the_same_walls(version):
    """5.15 has version 1, 6.1 version 2, 6.2 version 3, 6.7 version 4, 6.10 version 5."""
    if version > landlock.supported_version():
        pytest.skip("the kernel of this machine is older")
    found = confined(before=f"landlock.supported_version = lambda: {version}")
    missing = [name for name in WALLS if not found[name] and name not in {"memory", "orphans"}]
    assert not missing, found["notes"]


def test_each_step_that_fails_is_named_by_its_wall():
    found = confined(
        before="""
        def fail(*arguments):
            raise OSError(1, "not here")
        syscalls.unshare = syscalls.drop_capabilities = syscalls.die_with_parent = fail
        """
    )
    walls = {note.partition(":")[0] for note in found["notes"]}
    assert {"network", "privileges", "orphans"} <= walls
    assert found["network"], "the system call filter alone keeps the network away"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has capabilities to give up")
def test_root_with_a_part_of_its_capabilities_gives_up_what_it_has():
    """As in a container: the capability to read any file is not among those that are permitted."""
    found = confined(
        before="""
        import ctypes
        docker = 0xA80425FB
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)
        syscalls.checked(syscalls.libc().capset(header, (ctypes.c_uint32 * 6)(docker, docker)))
        """,
        after="""
        status = open("/proc/self/status").read().splitlines()
        found["left"] = [line.split()[1] for line in status if line.startswith("CapEff")][0]
        """,
    )
    assert int(found["left"], 16) == 0
    assert found["privileges"], found["notes"]


def test_a_memory_limit_that_cannot_be_set_is_reported():
    found = confined(
        before="resource.setrlimit(resource.RLIMIT_DATA, (1 << 33, 1 << 33))",
        after="found = {'notes': [str(step) for step in sandbox.limit_memory(1 << 20)]}",
    )
    assert any(note.startswith("memory: rlimit") for note in found["notes"])


def test_a_system_that_is_not_linux_promises_nothing():
    found = confined(
        before="sys.platform = 'darwin'",
        after="found['notes'] += map(str, sandbox.limit_memory(100))",
    )
    assert not any(found[name] for name in WALLS)
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
    found = confined(
        after="""
        status = open("/proc/self/stat").read().rpartition(")")[2].split()
        found = {"niceness": int(status[16])}
        """
    )
    assert found["niceness"] == min(os.getpriority(os.PRIO_PROCESS, 0) + 5, 19)


def test_two_graders_promise_what_the_weaker_one_keeps():
    weak = Isolation(network=True, notes=("files: landlock: no",))
    assert ALL_WALLS.weakest(weak) == Isolation(network=True, notes=("files: landlock: no",))
    assert ALL_WALLS.missing() == ()
    assert dataclasses.replace(ALL_WALLS, keys=False).missing() == ("keys",)
