"""Long commands show how far they are in a terminal, and nothing where there is none."""

from __future__ import annotations

import os
import pty
import subprocess
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.factories import write_competition
from tests.forkserver import run_podium

BEGIN = "\x1b[?25l"  # hides the cursor: a bar is drawn
TABLE = "x,y\n" + "".join(f"{n % 7},{n % 5}\n" for n in range(60))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Podium with a competition and an empty experiment, and what the commands below read."""
    home = tmp_path_factory.mktemp("progress")
    folder = write_competition(home / "competitions" / "tiny")
    other = write_competition(home / "other", seed=3)
    with zipfile.ZipFile(home / "other.zip", "w") as made:
        for path in (path for path in other.rglob("*") if path.is_file()):
            made.write(path, f"other/{path.relative_to(other)}")
    (home / "table.csv").write_text(TABLE)
    for words in (
        ("import", "folder", folder),
        ("experiments", "create", "e", "--agent", "a", "--model", "m"),
    ):
        done = run(home, words)
        assert done.returncode == 0, done.stderr
    return home


def environment(home: Path) -> dict[str, str]:
    return {
        **{k: v for k, v in os.environ.items() if not k.startswith("PODIUM_")},
        "PODIUM_DATA_DIR": str(home / "data"),
        "PODIUM_COMPETITIONS_DIR": str(home / "competitions"),
        "TERM": "xterm-256color", "COLUMNS": "160",
    }  # fmt: skip


def run(home: Path, words: tuple[Any, ...]) -> subprocess.CompletedProcess[str]:
    return run_podium(
        words, env=environment(home), cwd=home, capture_output=True, text=True, check=False,
        timeout=120,
    )  # fmt: skip


def run_in_terminal(home: Path, words: tuple[Any, ...]) -> tuple[int, str]:
    """The status, and what came to a terminal on standard error."""
    ours, theirs = pty.openpty()
    came: list[bytes] = []

    def read() -> None:
        while True:
            try:
                data = os.read(ours, 65536)
            except OSError:  # the other end is closed
                return
            if not data:
                return
            came.append(data)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        done = run_podium(
            words, env=environment(home), cwd=home, stdout=subprocess.PIPE, stderr=theirs,
            text=True, check=False, timeout=120,
        )  # fmt: skip
    finally:
        os.close(theirs)
        reader.join()
        os.close(ours)
    return done.returncode, b"".join(came).decode()


COMMANDS: dict[str, tuple[tuple[str, ...], str]] = {
    "import folder": (("import", "folder", "competitions/tiny"), "tiny"),
    "import archive": (("import", "archive", "other.zip"), "other.zip"),
    "check": (("check", "tiny"), "checking"),
    "new": (("new", "NAME", "--data", "table.csv", "--target", "y"), "splitting the table"),
    "split": (("split", "tiny", "--search", "0.4"), "splitting"),
    "backup": (("backup", "NAME"), "reading tables"),
    "verify": (("verify",), "comparing files"),
    "gc": (("gc",), "looking for files"),
    "report": (("report", "e", "--padding", "fail", "--suite", "none"), "counting results"),
    "scores": (("scores", "e"), "counting results"),
    "grade": (("grade", "./other", "other/public/sample_submission.csv"), "grading"),
    "harbor-task": (("harbor-task", "tiny", "NAME", "--verifier-url", "http://podium"), "bytes"),
    "plot": (("plot", "heat-map", "e", "--out", "NAME.svg"), "drawing"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_progress_is_for_terminals_alone(home: Path, command: str) -> None:
    words, text = COMMANDS[command]
    name = command.replace(" ", "-")

    status, shown = run_in_terminal(home, tuple(w.replace("NAME", f"{name}-1") for w in words))
    plain = run(home, tuple(word.replace("NAME", f"{name}-2") for word in words))

    assert BEGIN in shown, shown
    assert text in shown
    assert "\x1b" not in plain.stderr + plain.stdout
    assert text not in plain.stderr
    assert plain.returncode == status


def test_a_name_in_a_bar_is_text(home: Path) -> None:
    odd = home / "other{0}:cat:\x1b]0;title\x07.zip"
    odd.write_bytes((home / "other.zip").read_bytes())

    status, shown = run_in_terminal(home, ("import", "archive", odd))

    assert status == 0, shown
    assert r"other{0}:cat:\x1b]0;title\x07.zip" in shown


def test_a_restore_shows_its_progress(home: Path, tmp_path: Path) -> None:
    assert run(home, ("backup", tmp_path / "saved")).returncode == 0
    elsewhere = tmp_path / "new"
    (elsewhere / "competitions").mkdir(parents=True)

    status, shown = run_in_terminal(elsewhere, ("restore", tmp_path / "saved"))

    assert status == 0, shown
    assert "verifying files" in shown
    assert "storing files" in shown
