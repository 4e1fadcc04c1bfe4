"""A competition's metric.py that does all the wrong things: its job fails, nothing else does."""

import os
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest

from app.graders.messages.results import GraderFault
from app.graders.runtime_env import LIBRARIES
from app.grading.graded import Graded
from tests.factories import good_submission, write_competition, write_submission
from tests.graders.conftest import MEMORY_MB, SECONDS
from tests.graders.pool import FolderPool


def metric(body: str, before: str = "") -> str:
    """A metric.py whose `score` has this body."""
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return f"{textwrap.dedent(before)}\ndef score(answers, submission):\n{lines}\n"


def raised(error: str) -> GraderFault:
    """The fault that says that a metric of one line raised this."""
    return GraderFault("metric", f"the metric my_error failed: {error} at metric.py:3")


@pytest.fixture
def run(pool, with_metric):
    """Grades with a metric.py of this body, and checks that the pool is well afterwards."""

    def grade(body: str, before: str = ""):
        return pool.grade(*with_metric(metric(body, before))).result(60)

    return grade


@pytest.fixture(autouse=True)
def others_are_served(pool, tiny, tiny_file):
    yield
    assert pool.grade(tiny, tiny_file).result(60).score == 0.0


def test_an_honest_metric_is_used(run):
    found = run("return float((answers['target'] - submission['target']).abs().sum()) + 7")

    assert replace(found, sketch=None) == Graded(7.0, None, standing=None, warnings=())
    assert found.sketch.rows == 20


def test_a_metric_that_raises_is_named_by_line_and_type_without_its_text(run):
    fault = run("raise ZeroDivisionError(str(answers['target'].tolist()))")
    assert fault == raised("ZeroDivisionError")


@pytest.mark.parametrize("value", ["float('nan')", "float('inf')", "None", "'0.5'", "[1.0]"])
def test_a_metric_that_gives_no_finite_number_is_a_fault(run, value):
    fault = run(f"return {value}")
    assert isinstance(fault, GraderFault)
    assert fault.kind == "metric"


def test_a_metric_that_loops_for_ever_is_stopped_in_time(run):
    started = time.monotonic()
    fault = run("while True: pass")
    assert fault.kind == "timeout"
    assert SECONDS <= time.monotonic() - started < 4 * SECONDS


def test_a_metric_that_ignores_signals_and_exceptions_is_stopped_too(run):
    fault = run(
        """
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
            signal.signal(number, signal.SIG_IGN)
        while True:
            try:
                time.sleep(60)
            except BaseException:
                pass
        """,
        "import signal, time",
    )
    assert fault.kind == "timeout"


def test_a_metric_that_eats_all_memory_is_a_fault(with_metric, tiny, tiny_file):
    """With a long limit, because a slow machine takes seconds to fill the memory."""
    greedy = """
        eaten = []
        while True:
            eaten.append(bytearray(50_000_000))
        """
    with FolderPool(processes=1, seconds=50, memory_mb=MEMORY_MB, cache_mb=16) as patient:
        fault = patient.grade(*with_metric(metric(greedy))).result(60)
        assert patient.grade(tiny, tiny_file).result(60).score == 0.0
    assert fault.kind == "memory"


def test_a_metric_that_asks_numpy_for_too_much_is_a_fault(run):
    assert run("return float(np.ones(10**11).sum())", "import numpy as np").kind == "memory"


def test_a_metric_may_print_megabytes(run, capfd):
    outcome = run(
        """
        for _ in range(100):
            print("secret" * 20_000)
            sys.stderr.write("secret" * 20_000)
            os.write(1, b"secret" * 20_000)
        return 0.0
        """,
        "import os, sys",
    )
    assert outcome.score == 0.0
    assert "secret" not in "".join(capfd.readouterr())


def test_a_metric_that_reads_standard_input_finds_nothing(run):
    assert run("return float(len(sys.stdin.read()))", "import sys").score == 0.0


@pytest.mark.parametrize("call", ["exit()", "sys.exit(3)", "quit()"])
def test_a_metric_that_exits_politely_is_a_fault(run, call):
    fault = run(call, "import sys")
    assert isinstance(fault, GraderFault)
    assert fault.kind == "metric"


@pytest.mark.parametrize(
    ("call", "ending"),
    [
        ("os._exit(0)", "exit status 0"),
        ("os._exit(3)", "exit status 3"),
        ("os.kill(os.getpid(), 9)", "signal 9"),
        ("ctypes.string_at(0)", "signal 11"),
        ("os.abort()", "signal 6"),
    ],
)
def test_a_metric_that_ends_its_process_is_a_fault_at_once(run, call, ending):
    started = time.monotonic()
    assert run(call, "import ctypes, os") == GraderFault("crashed", ending)
    assert time.monotonic() - started < SECONDS


def test_a_metric_that_closes_all_files_loses_only_its_own_job(run):
    assert run("os.closerange(0, 1000); return 0.0", "import os").kind == "crashed"


def test_a_metric_that_writes_nonsense_to_all_files_loses_only_its_own_job(run):
    fault = run(
        """
        for number in range(3, 100):
            try:
                os.write(number, b"nonsense" * 10)
            except OSError:
                pass
        return 0.0
        """,
        "import os",
    )
    assert isinstance(fault, GraderFault)
    assert fault.kind in {"crashed", "timeout"}


def test_a_metric_finds_none_of_the_servers_environment(pool, with_metric):
    body = """
    names = set(os.environ)
    return float(any(name.startswith(("PODIUM", "AWS", "HOME", "DATABASE")) for name in names))
    """
    assert "HOME" in os.environ
    assert pool.grade(*with_metric(metric(body, "import os"))).result(60).score == 0.0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may read the environment of a grader")
def test_graders_start_without_the_servers_environment(pool):
    texts = [Path(f"/proc/{pid}/environ").read_text() for pid in pool.pids()]
    names = {line.split("=")[0] for text in texts for line in text.split("\0") if line}
    assert texts
    assert names <= {"PATH", "LANG", "PYTHONPATH", *LIBRARIES}


def test_a_metric_cannot_read_the_servers_environment(pool, run):
    if not pool.isolation().server:
        pytest.skip(f"this machine cannot hide the server: {pool.isolation().notes}")
    body = f"return float(len(open('/proc/{os.getpid()}/environ').read()))"
    assert run(body) == raised("PermissionError")


def test_a_metric_cannot_end_the_server(pool, run):
    if not pool.isolation().server:
        pytest.skip(f"this machine cannot hide the server: {pool.isolation().notes}")
    assert run("os.kill(os.getppid(), 9)", "import os") == raised("PermissionError")


def test_a_metric_cannot_reach_the_network(pool, run):
    if not pool.isolation().network:
        pytest.skip(f"this machine cannot cut the network off: {pool.isolation().notes}")
    fault = run("socket.create_connection(('127.0.0.1', 22), timeout=1)", "import socket")
    assert fault in (raised("PermissionError"), raised("OSError"))


def test_a_metric_cannot_write_or_remove_files(pool, run, tmp_path):
    if not pool.isolation().files:
        pytest.skip(f"this machine cannot protect files: {pool.isolation().notes}")
    kept = tmp_path / "kept"
    kept.write_text("kept")
    new = tmp_path / "new"
    for attempt in (f"open({str(new)!r}, 'w')", f"open({str(kept)!r}, 'a')",
                    f"os.remove({str(kept)!r})", f"os.rename({str(kept)!r}, {str(new)!r})",
                    f"os.mkdir({str(new)!r})", f"os.truncate({str(kept)!r}, 0)"):  # fmt: skip
        assert run(attempt, "import os") == raised("PermissionError"), attempt
    assert kept.read_text() == "kept"
    assert not new.exists()


def test_a_metric_cannot_start_processes(pool, run):
    if not pool.isolation().processes:
        pytest.skip(f"this machine cannot refuse processes: {pool.isolation().notes}")
    assert run("os.fork()", "import os") == raised("PermissionError")
    assert run("subprocess.run(['true'])", "import subprocess").kind == "metric"
    assert run("multiprocessing.Process().start()", "import multiprocessing").kind == "metric"


def test_a_metric_that_cannot_be_loaded_is_a_fault(run):
    assert run("return 0.0", "raise KeyError('secret')").kind == "metric"


def test_a_metric_cannot_change_how_others_are_graded(run, pool, tiny, tiny_file):
    assert run("np.seterr(all='raise'); return 0.0", "import numpy as np").score == 0.0
    for _ in range(8):  # both graders
        assert pool.grade(tiny, tiny_file).result(60).score == 0.0


def test_answers_are_not_shown_in_a_fault(run):
    fault = run("open(' '.join(map(str, answers['target'])))")
    assert fault in (raised("FileNotFoundError"), raised("OSError"), raised("PermissionError"))


def test_the_directory_a_metric_runs_in_tells_nothing(run):
    assert run("return float(os.getcwd() != '/')", "import os").score == 0.0


def test_a_zero_with_a_sign_is_zero(pool, tmp_path):
    """A mean of logarithms of 1, negated. PostgreSQL kept the sign, and SQLite did not."""
    folder = write_competition(tmp_path / "zero" / "v1", metric_py=metric("return -0.0"))
    graded = pool.grade(folder, write_submission(tmp_path / "f.csv", good_submission(folder)))
    found = graded.result(60)
    scores = [found.score, found.public_score, found.standing.score]
    assert [str(score) for score in scores] == ["0.0", "0.0", "0.0"]
    checked = pool.check_competition(folder).result(60)
    assert (str(checked.answers_score), str(checked.sample_score)) == ("0.0", "0.0")


def test_a_metrics_core_is_not_dumped(run):
    body = "return float(max(resource.getrlimit(resource.RLIMIT_CORE)))"
    assert run(body, "import resource").score == 0.0
