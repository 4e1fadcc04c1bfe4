"""Commands start at once: what each loads and starts, seen in a process of its own.

The process is a fork of a Python that has loaded what every command loads first.
"""

from __future__ import annotations

import gc
import inspect
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup

from app.cli.imports.commands import ImportCommands
from app.cli.lazy import LazyCommand, LazyGroup, Program
from app.cli.root import Podium
from tests.cli.conftest import Command
from tests.forked_python import ForkedPython

HEAVY = {
    "numpy", "scipy", "pandas", "pyarrow", "sklearn", "fastapi", "starlette", "uvicorn", "httpx",
    "kaggle",
}  # fmt: skip
SLOW = HEAVY | {"sqlalchemy", "alembic", "pydantic", "procrastinate", "obstore", "app.settings"}

# At the end: the modules that were loaded, and the processes that were started.
WATCHED = """
import atexit, json, sys
started = []
sys.addaudithook(lambda e, values: started.append(str(values[1])) if e == "subprocess.Popen" else 0)
atexit.register(lambda: print(json.dumps([sorted(sys.modules), started]), file=sys.stderr))
from app.cli import app
app(sys.argv[1:], prog_name="podium")
"""

PYTHON = ForkedPython(Path(sys.executable), "app.cli.root", "typer.rich_utils")


def watched(tmp_path: Path, *words: str, **variables: str) -> tuple[set[str], list[str]]:
    done = PYTHON.run(
        "-c", WATCHED, *words, cwd=Path.cwd(), timeout=120,
        env={**os.environ, "PODIUM_DATA_DIR": str(tmp_path / "data"), **variables},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    modules, started = json.loads(done.stderr.splitlines()[-1])
    return set(modules), started


def commands(group: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """All commands and groups below a group, by the words that name them."""
    for name, command in group.commands.items():
        real = command.load() if isinstance(command, LazyCommand) else command
        yield (*words, name), real
        if isinstance(real, TyperGroup):
            yield from commands(real, (*words, name))


ALL = dict(commands(Podium(name="podium")))


@pytest.mark.parametrize("words", [(), *ALL], ids=" ".join)
def test_the_help_of_each_command_and_group_loads_no_podium(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    modules, started = watched(tmp_path, *words, "--help")

    assert modules & SLOW == set()
    assert started == []


def test_a_closed_output_is_told_and_not_a_traceback(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "app.cli", "keys", "create", "admin"]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *words],
        env={**os.environ, "PODIUM_DATA_DIR": str(tmp_path)}, stderr=subprocess.PIPE, text=True,
        check=False,
    )  # fmt: skip

    assert done.returncode == 1
    assert done.stderr == "Standard output or error is closed: give it a file, or /dev/null.\n"


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_an_output_that_is_no_utf8_has_escapes(tmp_path: Path, encoding: str) -> None:
    def podium(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "app.cli", *words],
            env={**os.environ, "PODIUM_DATA_DIR": str(tmp_path), "PYTHONIOENCODING": encoding},
            capture_output=True, check=False, errors="replace",
            encoding="utf-8" if encoding == "ascii" else encoding,  # as Click writes
        )  # fmt: skip

    assert podium("db", "upgrade").returncode == 0
    name = "\u5be6\u9a57 \U0001d4b3 \u00e9"
    made = podium("keys", "create", "researcher", "--name", name, "--json")
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["name"] == name
    create = ("experiments", "create", name, "--agent", "a", "--model", "m")
    assert podium(*create).returncode == 0

    listed = podium("keys", "list")
    reported = podium("report", name, "--padding", "fail", "--json")

    assert (listed.returncode, listed.stderr) == (0, "")
    assert r"\u5be6\u9a57 \U0001d4b3" in listed.stdout or name in listed.stdout
    assert "Traceback" not in reported.stderr
    assert "not text in UTF-8" not in reported.stderr


def test_the_version_loads_no_podium(tmp_path: Path) -> None:
    modules, started = watched(tmp_path, "--version")

    assert modules & SLOW == set()
    assert started == []


def test_the_script_of_completion_loads_no_podium(tmp_path: Path) -> None:
    # The shell is named; typer would look for one among the parents, which may have none.
    named = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    modules, started = watched(tmp_path, "--show-completion", "bash", **named)

    assert modules & SLOW <= {"pydantic"}  # typer converts the name of the shell with it
    assert started == []


@pytest.mark.parametrize(
    "line",
    ["podium ", "podium keys ", "podium report --", "podium import kaggle --", "podium serve --",
     "podium selection --", "podium items --", "podium plan --", "podium plot --",
     "podium runs create --", "podium keys list --", "podium reviews list --",
     "podium receipts keys revoke --", "podium grade --", "podium prepare --"],
)  # fmt: skip
def test_completion_loads_no_podium(tmp_path: Path, line: str) -> None:
    modules, started = watched(
        tmp_path,
        _PODIUM_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(line.count(" ")),
    )  # fmt: skip

    # Typer converts the defaults of a command's options with pydantic before it completes.
    assert modules & SLOW <= {"pydantic"}
    assert started == []


@pytest.mark.parametrize(
    "words",
    [
        ["keys", "list", "--help"], ["keys", "create", "researcher"], ["keys", "list"],
        ["competitions", "list"], ["runs", "create", "--help"], ["runs", "list"],
        ["experiments", "list"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_keys_and_lists_load_no_numbers_and_start_no_grader(
    podium: Command, tmp_path: Path, words: list[str]
) -> None:
    assert podium("db", "upgrade").returncode == 0

    modules, started = watched(tmp_path, *words)

    assert modules & HEAVY == set()
    # platform.architecture(), which a library calls, runs `file`: that is not a grader
    assert [one for one in started if "app.graders" in one] == []


@pytest.mark.parametrize("words", [["keys", "list"], ["runs", "list"], ["verify"]], ids=" ".join)
def test_a_database_that_is_up_to_date_needs_no_alembic(
    podium: Command, tmp_path: Path, words: list[str]
) -> None:
    assert podium("db", "upgrade").returncode == 0

    modules, _ = watched(tmp_path, *words)

    assert "sqlalchemy" in modules
    assert "alembic" not in modules


def test_a_started_grader_is_seen(podium: Command, tiny: Path, tmp_path: Path) -> None:
    _, started = watched(tmp_path, "check", str(tiny))

    assert any("app.graders" in one for one in started)


def test_the_proxy_is_small(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("pod_run_x")
    process = subprocess.Popen(
        [
            sys.executable, "-c", WATCHED, "proxy", "--to", "http://127.0.0.1:9",
            "--key-file", str(tmp_path / "key"), "--listen", "127.0.0.1:0",
        ],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline().startswith("forwarding http://127.0.0.1:")
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    modules, _ = json.loads(err.splitlines()[-1])

    assert process.returncode == 0
    assert set(modules) & (SLOW | {"rich"}) == set()


@pytest.mark.parametrize("group", [Podium, ImportCommands])
def test_the_list_says_what_each_commands_own_help_begins_with(group: type[LazyGroup]) -> None:
    for command in group(name="group").commands.values():
        if isinstance(command, Program):
            module = __import__(f"app.cli.operation.{command.name}", fromlist=["_"])
            text = inspect.getdoc(getattr(module, str(command.name)))
        else:
            assert isinstance(command, LazyCommand)
            text = command.load().help
        assert text is not None
        assert " ".join(text.partition("\n\n")[0].split()) == command.help, command.name


@pytest.mark.parametrize(
    ("line", "expected"),
    [("podium gr", {"grade"}), ("podium keys ", {"create", "list", "revoke"}),
     ("podium import f", {"folder"}), ("podium keys list --j", {"--json"})],
)  # fmt: skip
def test_a_shell_completes_commands_and_options(line: str, expected: set[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "app.cli"],
        env={
            **os.environ, "_PODIUM_COMPLETE": "complete_bash",
            "COMP_WORDS": line, "COMP_CWORD": str(line.count(" ")),
        },
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip

    assert set(done.stdout.split()) == expected


def test_a_misspelt_command_gets_the_right_one(podium: Command) -> None:
    done = podium("grad")

    assert done.returncode == 2
    assert "'grade'" in done.stderr


@pytest.mark.parametrize("collects", [True, False])
def test_to_load_a_command_leaves_garbage_collection_as_it_was(collects: bool) -> None:
    command = LazyCommand("grade", "app.cli.folders.grade:grade", "Grade a file.")
    try:
        (gc.enable if collects else gc.disable)()
        command.load()
        assert gc.isenabled() is collects
    finally:
        gc.enable()
