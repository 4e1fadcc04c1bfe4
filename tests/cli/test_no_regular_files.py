"""A named pipe, a device or a folder in place of a file: refused at once, and not waited for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Command

NO_FILE = "not a regular file"
COMMANDS = [
    "grade tiny FILE",
    "import archive FILE",
    "import grading-report seen FILE",
    "import run-groups FILE .",
    "import mlagentbench-results seen FILE --competition tiny",
    "import leaderboard tiny FILE",
    "new mine --data DATA --target y --leaderboard FILE",
    "new mine --data FILE --target y",
    "verify FILE --allowed-signers DATA",
    "verify DATA --allowed-signers FILE",
    "verify DATA --allowed-signers DATA --signature FILE",
    "verify DATA --allowed-signers DATA --revoked FILE",
    "verify --log FILE --allowed-signers DATA",
]


@pytest.fixture(params=["pipe", "device", "folder"])
def no_file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A path that exists and is not a regular file."""
    place = tmp_path / "odd"
    if request.param == "device":
        return Path("/dev/zero")
    os.mkfifo(place) if request.param == "pipe" else place.mkdir()
    return place


@pytest.mark.parametrize("words", COMMANDS)
def test_a_file_that_is_none_is_refused(
    podium: Command, tmp_path: Path, no_file: Path, words: str
) -> None:
    data = tmp_path / "data.csv"
    data.write_text("")
    named = {"FILE": no_file, "DATA": data}

    done = podium(*(named.get(word, word) for word in words.split()))

    assert done.returncode in (1, 2)
    text = " ".join(done.stderr.replace("│", " ").split())
    if words.startswith("new mine --data FILE"):
        assert "is not a file" in text
    else:
        assert ("is a directory" if no_file.is_dir() else NO_FILE) in text, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [words for words in COMMANDS if words.count("FILE") == 1])
def test_a_file_that_the_disk_cannot_read_is_told(
    podium: Command, tmp_path: Path, words: str
) -> None:
    data = tmp_path / "data.csv"
    data.write_text("")
    named = {"FILE": "/proc/self/mem", "DATA": data}  # EIO at its first byte, as of a broken disk

    done = podium(*(named.get(word, word) for word in words.split()))

    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "words",
    ["check PATH", "grade PATH DATA", "new mine --data PATH --target y",
     "harbor-task tiny PATH --verifier-url http://x"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["x" * 300, "loop"])
def test_a_path_that_cannot_be_opened_is_named(
    podium: Command, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str,
    words: str,
) -> None:  # fmt: skip
    """What permissions forbid ends the same way; the tests run as root, to whom they do not."""
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    Path("data.csv").write_text("")
    assert podium("import", "folder", tiny).returncode == 0

    done = podium(*({"PATH": path, "DATA": "data.csv"}.get(word, word) for word in words.split()))

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert path in done.stderr.replace("\n", "")


@pytest.mark.parametrize("name", ["competition.toml", "leaderboard.csv", "private/answers.csv"])
@pytest.mark.parametrize("words", ["grade TINY DATA", "import folder TINY"])
def test_a_file_of_a_folder_that_is_none_is_named(
    podium: Command, tiny: Path, tmp_path: Path, words: str, name: str
) -> None:
    data = tmp_path / "data.csv"
    data.write_text("id,target\n")
    (tiny / name).unlink()
    os.mkfifo(tiny / name)
    named = {"TINY": tiny, "DATA": data}

    done = podium(*(named.get(word, word) for word in words.split()))

    assert done.returncode == 1
    assert name in done.stderr
    assert "Traceback" not in done.stderr


def test_a_list_of_outputs_that_is_a_pipe_is_named(podium: Command, tmp_path: Path) -> None:
    (tmp_path / "outputs" / "group").mkdir(parents=True)
    os.mkfifo(tmp_path / "outputs" / "group" / "submission.jsonl")

    done = podium("import", "submissions", "seen", tmp_path / "outputs")

    assert done.returncode == 1
    assert NO_FILE in done.stderr
