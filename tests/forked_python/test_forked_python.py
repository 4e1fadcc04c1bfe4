"""A forked program of a Python is to its caller what a started one is."""

from __future__ import annotations

import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.forked_python import ForkedPython

TELL = """
import os, sys
print(__name__, sys.argv, os.getcwd(), sorted(os.environ), repr(sys.path[0]), sys.stdin.read())
print("an error", file=sys.stderr)
"""
PROGRAMS = {
    "tells": TELL,
    "fails": "raise ValueError('mine')",
    "ends with a number": "import sys; sys.exit(7)",
    "ends with words": "import sys; sys.exit('a sentence')",
    "ends with an exit function": "import atexit; atexit.register(print, 'the end')",
    "ends by a signal": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
}

LANGUAGE = {"LC_ALL": "C.UTF-8"}  # without one, Python sets a variable at its start


@pytest.fixture(scope="module")
def python() -> Iterator[ForkedPython]:
    made = ForkedPython(Path(sys.executable), "json")
    yield made
    made.close()


@pytest.mark.parametrize("is_script", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_output_and_status_are_those_of_a_start(
    python: ForkedPython, tmp_path: Path, name: str, is_script: bool
) -> None:
    script = tmp_path / "script.py"
    script.write_text(PROGRAMS[name])
    words = [str(script)] if is_script else ["-c", PROGRAMS[name]]
    words += ["one", "é two"]
    env = {"PATH": "/usr/bin", "HOME": str(tmp_path), **LANGUAGE}

    started = subprocess.run(
        [python.python, *words], env=env, cwd=tmp_path, capture_output=True, text=True,
        check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    forked = python.run(*words, env=env, cwd=tmp_path, timeout=60)

    assert (forked.returncode, forked.stdout) == (started.returncode, started.stdout)
    assert forked.stderr.splitlines()[-1:] == started.stderr.splitlines()[-1:]
    assert started.stdout or started.stderr or started.returncode


def test_programs_know_nothing_of_each_other(python: ForkedPython, tmp_path: Path) -> None:
    first = "import random, os; os.environ['LEFT'] = '1'; left = 1; print(random.random())"
    second = "import random, os; print(random.random()); assert 'LEFT' not in os.environ; left"
    done = [
        python.run("-c", code, env=LANGUAGE, cwd=tmp_path, timeout=60) for code in (first, second)
    ]

    assert done[0].stdout != done[1].stdout
    assert (done[1].returncode, "NameError" in done[1].stderr) == (1, True)


def test_what_only_a_start_reads_is_refused(python: ForkedPython, tmp_path: Path) -> None:
    python.run("-c", "pass", env=LANGUAGE, cwd=tmp_path, timeout=60)
    with pytest.raises(AssertionError, match=r"a fork does not read .*PYTHONPATH"):
        python.run("-c", "pass", env={**LANGUAGE, "PYTHONPATH": "x"}, cwd=tmp_path, timeout=60)


def test_a_module_that_starts_a_thread_is_refused(tmp_path: Path) -> None:
    venv.create(tmp_path / "own", with_pip=False, symlinks=True)
    (packages,) = (tmp_path / "own").glob("lib/python*/site-packages")
    (packages / "threaded.py").write_text(
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    )
    own = ForkedPython(tmp_path / "own" / "bin" / "python", "threaded")

    with pytest.raises(AssertionError, match="did not start"):
        own.run("-c", "pass", env=LANGUAGE, cwd=tmp_path, timeout=60)
    own.close()
