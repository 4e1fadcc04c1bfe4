"""A metric.py that tries what the kernel must refuse.

Each attempt is a system call of its own, made in a real job; the metric returns what came of it.
"""

import contextlib
import os
import re
import time
from pathlib import Path

import pytest

from app.graders.walls import sandbox
from tests.attacks.conftest import POOL, metric
from tests.graders.conftest import wait_until
from tests.graders.pool import FolderPool
from tests.processes import below

REFUSED = {1.0, 13.0}  # EPERM, EACCES
LIBC = """
import ctypes, fcntl, mmap, os, platform, resource, select, signal, socket, sys, threading, time

libc = ctypes.CDLL(None, use_errno=True)
server = SERVER
target = TARGET
X86 = platform.machine() == "x86_64"

def call(name, *arguments):
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)

def number(x86, arm, *arguments):
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    if libc.syscall(ctypes.c_long(x86 if X86 else arm), *wide) < 0:
        raise OSError(ctypes.get_errno(), str(x86))

def opened():
    return os.open(target, os.O_RDONLY)
"""
ATTEMPTS = {
    # limits, priorities and processors of the server
    "read a limit of the server": "resource.prlimit(server, resource.RLIMIT_CPU)",
    "limit the server's time": "resource.prlimit(server, resource.RLIMIT_CPU, (1, 1))",
    "limit the server's files": "resource.prlimit(server, resource.RLIMIT_NOFILE, (3, 3))",
    "limit the server's file size": "resource.prlimit(server, resource.RLIMIT_FSIZE, (0, 0))",
    "limit the server's memory": "resource.prlimit(server, resource.RLIMIT_AS, (1, 1))",
    "limit the parent": "resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1))",
    "raise a limit of its own": "resource.setrlimit(resource.RLIMIT_FSIZE, (9, 9))",
    "raise its memory": "resource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
    "setpriority": "os.setpriority(os.PRIO_PROCESS, server, 19)",
    "nice": "os.nice(1)",
    "sched_setaffinity": "os.sched_setaffinity(server, {0})",
    "sched_setscheduler": "os.sched_setscheduler(server, os.SCHED_BATCH, os.sched_param(0))",
    "sched_setparam": "os.sched_setparam(server, os.sched_param(0))",
    "sched_setattr": "number(314, 274, server, b'\\0' * 64, 0)",
    "ioprio_set": "number(251, 30, 1, server, 3 << 13)",
    # modes, owners, times, attributes
    "chmod": "os.chmod(target, 0o777)",
    "fchmod": "os.fchmod(opened(), 0o777)",
    "chown": "os.chown(target, 1, 1)",
    "lchown": "os.lchown(target, 1, 1)",
    "utime": "os.utime(target, (0, 0))",
    "setxattr": "os.setxattr(target, 'user.evil', b'1')",
    "removexattr": "os.removexattr(target, 'user.evil')",
    "a lease": "fcntl.fcntl(opened(), fcntl.F_SETLEASE, fcntl.F_RDLCK)",
    "a lock": "fcntl.flock(opened(), fcntl.LOCK_EX | fcntl.LOCK_NB)",
    "a POSIX lock": "fcntl.lockf(opened(), fcntl.LOCK_SH | fcntl.LOCK_NB)",
    "an open file description lock": "fcntl.fcntl(opened(), 37, b'\\0' * 32)",
    "a signal's owner": "fcntl.fcntl(opened(), fcntl.F_SETOWN, server)",
    "a notification": "fcntl.fcntl(opened(), fcntl.F_NOTIFY, 4)",
    # shared memory and what outlives a process
    "shmget": "call('shmget', 0, 1 << 30, 0o600)",
    "semget": "call('semget', 0, 1, 0o600)",
    "msgget": "call('msgget', 0, 0o600)",
    "mq_open": "number(240, 180, b'evil', 66, 0o600, None)",
    "memfd_create": "os.memfd_create('evil')",
    "memfd_secret": "number(447, 447, 0)",
    "shared anonymous memory": "mmap.mmap(-1, 1 << 20)",
    "shared memory of /dev/zero": "mmap.mmap(os.open('/dev/zero', os.O_RDWR), 1 << 20)",
    "/dev/shm": "open('/dev/shm/evil', 'w')",
    "add_key": "number(248, 217, b'user', b'evil', b'x', 1, -3)",
    "keyctl": "number(250, 219, 0, -3, 0)",
    # processes, privileges, tracing
    "ptrace": "call('ptrace', 16, os.getppid(), None, None)",
    "ptrace me": "call('ptrace', 0, 0, None, None)",
    "process_vm_readv": "call('process_vm_readv', server, None, 0, None, 0, 0)",
    "process_vm_writev": "call('process_vm_writev', os.getppid(), None, 0, None, 0, 0)",
    "pidfd_open": "os.pidfd_open(server)",
    "kcmp": "number(312, 272, server, server, 0, 0, 0)",
    "the server's processor time": "time.clock_gettime(~server << 3 | 2)",
    "the resolution of its clock": "time.clock_getres(~server << 3 | 2)",
    "sleep by its clock": "number(230, 115, ~server << 3 | 2, 0, b'\\0' * 16, None)",
    "kill the server": "os.kill(server, 9)",
    "kill the parent": "os.kill(os.getppid(), 9)",
    "kill all": "os.kill(-1, 9)",
    "kill the group": "os.killpg(0, 9)",
    "tgkill": "number(234, 131, os.getppid(), os.getppid(), 9)",
    "tkill": "number(200, 130, os.getppid(), 9)",
    "sigqueue": "number(129, 138, os.getppid(), 9, b'\\0' * 128)",
    "fork": "os.fork()",
    "clone": "number(56, 220, 17, None, None, None, None)",
    "execve": "os.execv('/bin/true', ['true'])",
    "execveat": "number(322, 281, -100, b'/bin/true', None, None, 0)",
    "setsid": "os.setsid()",
    "setpgid": "os.setpgid(0, 0)",
    "setuid": "os.setuid(0)",
    "capset": "call('capset', b'\\x22\\x05\\x08\\x20' + b'\\0' * 4, b'\\xff' * 24)",
    "unshare": "call('unshare', 0x10000000)",
    "setns": "call('setns', 0, 0)",
    "mount": "call('mount', b'none', b'/tmp', b'tmpfs', 0, None)",
    "chroot": "os.chroot('/')",
    "outlive the parent": "call('prctl', 1, 0, 0, 0, 0)",
    "dumpable": "call('prctl', 4, 1, 0, 0, 0)",
    "another filter": "number(317, 277, 1, 0, None)",
    "bpf": "number(321, 280, 0, None, 0)",
    "perf_event_open": "number(298, 241, None, 0, -1, -1, 0)",
    "userfaultfd": "number(323, 282, 0)",
    "io_uring": "number(425, 425, 1, b'\\0' * 120)",
    "open_by_handle_at": "number(304, 265, opened(), b'\\0' * 64, 0)",
    # what the kernel counts for all processes of a user: the server aborts when it gets no more
    "epoll": "select.epoll()",
    "eventfd": "os.eventfd(0)",
    "a thread with open files of its own": "number(56, 220, 0x10900, None, None, None, None)",
    "splice": "number(275, 76, 0, None, 1, None, 1, 0)",
    "syslog": "number(103, 116, 10, None, 0)",
    "reboot": "number(169, 142, 1, 2, 3, None)",
    # the network
    **{f"socket {family}": f"socket.socket({family})" for family in (1, 2, 10, 16, 17, 38, 40)},
    "socketpair": "socket.socketpair()",
    # files
    "write": "open(target, 'a')",
    "truncate": "os.truncate(target, 0)",
    "unlink": "os.unlink(target)",
    "rename": "os.rename(target, target + '2')",
    "link": "os.link(target, target + '2')",
    "symlink": "os.symlink(target, target + '2')",
    "mkdir": "os.mkdir(target + '2')",
    "mkfifo": "os.mkfifo(target + '2')",
    "a file without a name": "os.open(os.path.dirname(target), os.O_TMPFILE | os.O_RDWR)",
    # reading
    "the server's environment": "open(f'/proc/{server}/environ', 'rb').read()",
    "the server's memory": "open(f'/proc/{server}/mem', 'rb')",
    "the server's root": "os.listdir(f'/proc/{server}/root')",
    "the parent's memory": "open(f'/proc/{os.getppid()}/mem', 'rb')",
    "the list of processes": "os.listdir('/proc')",
    "/etc/passwd": "open('/etc/passwd').read()",
    "the home directory": f"os.listdir({str(Path.home())!r})",
    "another competition's answers": "open(OTHER).read()",
    "the directory of competitions": "os.listdir(os.path.dirname(OTHER))",
}  # fmt: skip


@pytest.fixture(scope="module")
def locked() -> FolderPool:
    """A pool that refuses a metric.py where a wall is missing."""
    with FolderPool(**POOL, requires_isolation=True) as pool:
        pool.warm_up()
        yield pool


@pytest.fixture(scope="module")
def pool(locked):
    return locked


@pytest.mark.parametrize("name", ATTEMPTS)
def test_the_kernel_refuses(pool, competition, tmp_path, name):
    target = tmp_path / "target"
    target.write_text("kept")
    target.chmod(0o640)
    before = target.stat()
    other, _ = competition()
    setup = LIBC.replace("SERVER", str(os.getpid())).replace("TARGET", repr(str(target)))
    setup += f"OTHER = {str(other / 'private' / 'answers.csv')!r}\n"
    reads_target = "opened()" in ATTEMPTS[name]
    body = f"""
    try:
        {ATTEMPTS[name]}
    except OSError as error:
        return float(error.errno)
    except MemoryError:
        return 1.0
    except ValueError as error:
        return 1.0 if "not allowed" in str(error) or "exceeds" in str(error) else -1.0
    return 0.0
    """
    folder, file = competition(metric(body, setup), leaderboard=None, usage=None)
    if reads_target:  # a file that the metric may open
        target = folder / "competition.toml"
        text = setup.replace(repr(str(tmp_path / "target")), repr(str(target)))
        (folder / "metric.py").write_text(metric(body, text))
        before = target.stat()
    graded = pool.grade(folder, file).result(60)
    assert getattr(graded, "score", graded) in REFUSED, graded
    after = target.stat()
    kept = ("st_mode", "st_uid", "st_gid", "st_size", "st_mtime_ns", "st_nlink")
    assert [getattr(before, field) for field in kept] == [getattr(after, field) for field in kept]


def test_a_metric_reads_its_own_version_and_python(pool, competition):
    body = """
    import decimal, json, sqlite3, sklearn.metrics, scipy.stats, rapidfuzz.distance
    here = VERSION
    names = sorted(os.listdir(here))
    assert "competition.toml" in names and "private" in names
    open(os.path.join(here, "private", "answers.csv")).read()
    open(os.devnull, "w").write("x")
    os.urandom(8)
    return float(sklearn.metrics.mean_absolute_error(answers["target"], submission["target"]))
    """
    folder, file = competition(leaderboard=None, usage=None)
    text = metric(body, "import os").replace("VERSION", repr(str(folder)))
    (folder / "metric.py").write_text(text)
    assert pool.grade(folder, file).result(60).score == 0.0


def test_memory_is_bounded_as_a_whole(pool, competition):
    """Mapped files count, too, and so do 3,000 threads."""
    for body in (
        "return float(len([bytearray(1 << 20) for _ in range(4000)]))",
        "for _ in range(3000): threading.Thread(target=time.sleep, args=(99,)).start()",
    ):
        folder, file = competition(
            metric(body, "import threading, time"), leaderboard=None, usage=None
        )
        fault = pool.grade(folder, file).result(60)
        assert getattr(fault, "kind", "") in {"memory", "metric"}, fault


THREADS = """
import _thread, threading, time

threading.stack_size(65536)  # Python 3.14 allows no less than 53,248

def many(most):
    for _ in range(most):
        _thread.start_new_thread(time.sleep, (99,))
"""


def test_threads_are_bounded(pool, competition):
    """Small stacks pass every limit of memory; each thread takes the kernel's, and a process id."""
    for before, body in (
        (THREADS, "many(12_000); time.sleep(5); return 1.0"),
        (THREADS + "many(12_000); time.sleep(5)\n", "return 1.0"),
    ):
        folder, file = competition(metric(body, before), leaderboard=None, usage=None)
        fault = pool.grade(folder, file).result(60)
        assert (fault.kind, fault.place) == ("crashed", "more than 256 threads")
        checked = pool.check_competition(folder).result(60)
        assert (checked.kind, checked.place) == ("crashed", "more than 256 threads")


@pytest.mark.parametrize(("threads", "policy"), [(4, os.SCHED_OTHER), (200, os.SCHED_IDLE)])
def test_many_threads_get_what_others_leave_of_the_processors(pool, competition, threads, policy):
    """Where no session has a share of its own, as in containers, 240 took nearly all of them."""
    body = f"""
    many({threads})
    ended = time.monotonic() + 5
    while os.sched_getscheduler(0) != {policy} and time.monotonic() < ended:
        time.sleep(0.01)
    time.sleep(0.05)
    return float(os.sched_getscheduler(0))
    """
    folder, file = competition(metric(body, f"import os{THREADS}"), leaderboard=None, usage=None)
    assert pool.grade(folder, file).result(60).score == policy


def test_many_threads_of_a_process_that_waits_for_its_job_get_what_others_leave(pool, competition):
    """It has loaded the metric.py, and is kept for a second without a job."""
    before = f"import os{THREADS}many(200)\n"
    folder, file = competition(metric("return 1.0", before), leaderboard=None, usage=None)
    assert pool.grade(folder, file).result(60).score == 1.0
    policy, ended = os.SCHED_OTHER, time.monotonic() + 5
    while policy != os.SCHED_IDLE and time.monotonic() < ended:
        time.sleep(0.05)
        for process in with_many_threads():
            with contextlib.suppress(OSError):  # it has ended
                policy = os.sched_getscheduler(process)
    assert policy == os.SCHED_IDLE


def with_many_threads() -> list[int]:
    """The processes below this one that have more than 200 threads."""
    found = []
    for process in [one.pid for one in below(os.getpid())]:
        with contextlib.suppress(OSError):  # it has ended
            if os.stat(f"/proc/{process}/task").st_nlink > 202:  # noqa: PTH116
                found.append(process)
    return found


def test_many_threads_are_not_kept_for_a_job_that_may_come(pool, competition):
    """Those of several competitions used up the process ids of a container.

    No other metric.py could start a thread any more, and files at it failed.
    """
    before = f"import os{THREADS}many(220)\n"
    folder, file = competition(metric("return 1.0", before), leaderboard=None, usage=None)
    assert pool.grade(folder, file).result(60).score == 1.0
    wait_until(lambda: bool(with_many_threads()), 5)
    wait_until(lambda: not with_many_threads(), 10)
    assert pool.grade(folder, file).result(60).score == 1.0


CLOSES = "import os\nos.closerange(3, 60)\n"
SENDS_A_PART = """
import os, stat

def is_open(number):
    try:
        return bool(os.fstat(number))
    except OSError:
        return False

for number in filter(is_open, range(3, 60)):
    try:
        os.write(number, b"x")
    except OSError:
        pass
"""


@pytest.mark.parametrize("before", [CLOSES, SENDS_A_PART], ids=["closes", "sends_a_part"])
@pytest.mark.parametrize("task", ["grade", "check"])
def test_threads_are_bounded_while_a_result_is_awaited(pool, competition, task, before):
    """Whoever waits for the rest of a result, or for the end of a process, looks at it too."""
    body = f"{before}\nmany(12_000)\ntime.sleep(5)\nreturn 1.0"
    folder, file = competition(metric(body, THREADS), leaderboard=None, usage=None)
    asked = pool.grade(folder, file) if task == "grade" else pool.check_competition(folder)
    fault = asked.result(60)
    assert (fault.kind, fault.place) == ("crashed", "more than 256 threads")


STACKS = """
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
GROWS_DOWN = 0x122  # MAP_GROWSDOWN, MAP_ANONYMOUS, MAP_PRIVATE
"""


WRITES_AND_KEEPS = """
import time

libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
READ, WRITE, PRIVATE, SIZE = 1, 2, 0x22, 16 << 20

def fill():
    kept = 0
    while (part := libc.mmap(None, SIZE, READ | WRITE, PRIVATE, -1, 0)) not in (None, 2**64 - 1):
        libc.memset(part, 1, SIZE)
        libc.mprotect(part, SIZE, READ)
        kept += SIZE
    time.sleep(1)
    return float(kept)
"""
WITHOUT_ITS_FIRST_THREAD = """
threading.Thread(target=fill).start()
libc.syscall(60 if platform.machine() == "x86_64" else 93, 0)  # exit, of this thread alone
"""


@pytest.mark.parametrize("before", ["", WITHOUT_ITS_FIRST_THREAD], ids=["all", "not_the_first"])
@pytest.mark.parametrize("task", ["grade", "check"])
def test_memory_that_was_written_and_is_read_only_now_is_within_the_limit(
    pool, competition, task, before
):
    """RLIMIT_DATA no longer counts it: a job had a gigabyte more than its limit."""
    source = metric("return fill()", "import platform, threading" + STACKS + WRITES_AND_KEEPS)
    folder, file = competition(f"{source}{before}", leaderboard=None, usage=None)
    asked = pool.grade(folder, file) if task == "grade" else pool.check_competition(folder)
    fault = asked.result(60)
    assert (fault.kind, fault.place) == ("crashed", "more memory than the limit")


FAR_PAGES = """
import time

READ, FIXED, PAGE, GIGABYTE, FIRST = 1, 0x32, 4096, 1 << 30, 1 << 44

def fill(kept):
    for place in range(FIRST, FIRST + 45_000 * GIGABYTE, GIGABYTE):
        if libc.mmap(place, PAGE, READ, FIXED, -1, 0) in (None, 2**64 - 1):
            return 0.0
        ctypes.string_at(place, 1)
    time.sleep(1)
    return float(len(kept))
"""


@pytest.mark.parametrize("task", ["grade", "check"])
def test_page_tables_are_within_the_limit(pool, competition, task):
    """Two tables for each of many pages that are far apart: 0.5 GB that nothing counted."""
    source = metric("return fill(bytearray(200 << 20))", STACKS + FAR_PAGES)
    folder, file = competition(source, leaderboard=None, usage=None)
    asked = pool.grade(folder, file) if task == "grade" else pool.check_competition(folder)
    fault = asked.result(60)
    assert (fault.kind, fault.place) == ("crashed", "more memory than the limit")


def test_stacks_that_grow_are_no_memory_beyond_the_limit(attack):
    """RLIMIT_DATA does not count them: a job had a gigabyte more than its limit."""
    body = "return float(libc.mmap(None, 1 << 20, 3, GROWS_DOWN, -1, 0) not in (None, 2**64 - 1))"
    assert attack(body, STACKS).score == 0.0


def test_a_grader_has_no_capabilities_writes_no_file_and_ends_before_the_server(pool):
    pid = pool.pids("grade")[0]
    status = dict(
        line.split(":\t", 1)
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        if ":\t" in line
    )
    assert int(status["CapEff"], 16) & ~0b100 == 0
    assert status["NoNewPrivs"] == "1"
    assert status["Seccomp"] == "2"
    limits = Path(f"/proc/{pid}/limits").read_text()
    for name in ("core file size", "file size"):  # a crash would leave answers on the disk
        assert re.search(rf"^Max {name} +0 +0 ", limits, re.MULTILINE), limits
    assert int(Path(f"/proc/{pid}/oom_score_adj").read_text()) == 500


def test_a_job_may_open_few_files(attack):
    """The memory of pipes is in no other limit."""
    body = "return float(resource.getrlimit(resource.RLIMIT_NOFILE)[1])"
    assert attack(body, "import resource").score == sandbox.OPEN_FILES <= 128


def test_a_job_has_no_descriptor_but_its_channel(attack):
    """Not its parent's channels, by which it could answer for others."""
    before = SENDS_A_PART.partition("for number")[0]
    body = "return float(sum(map(is_open, range(4096))) - sum(map(is_open, range(3))))"
    assert attack(body, before).score == 1.0


def test_every_wall_is_there_and_said(pool):
    isolation = pool.isolation()
    assert isolation.missing() == (), isolation.notes
