"""`podium import kaggle`: one Podium brings in what another one serves, with Kaggle's package."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.factories import BOARD
from tests.forkserver import PodiumProcess, run_podium
from tests.kaggle_api.test_downloads import CutOnce
from tests.server import free_port

# These tests try the command line, not the server's database.
pytestmark = pytest.mark.parametrize("server", ["sqlite"], indirect=True)
PREPARE = '''
import csv
from pathlib import Path


def prepare(raw: Path, public: Path, private: Path) -> None:
    """Half of the rows of labels.csv become the test rows."""
    with (raw / "labels.csv").open() as file:
        rows = list(csv.DictReader(file))
    for path, names, part in (
        (public / "train.csv", ["id", "target"], rows[::2]),
        (private / "answers.csv", ["id", "target"], rows[1::2]),
        (public / "sample_submission.csv", ["id", "target"],
         [{"id": row["id"], "target": 0.5} for row in rows[1::2]]),
    ):
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, names, lineterminator="\\n")
            writer.writeheader()
            writer.writerows(part)
'''
TOML = """title = "Mine"
version = 1
[metric]
name = "root_mean_squared_error"
[submission]
id = "id"
[submission.columns]
target = { kind = "number" }
[leaderboard]
source = "kaggle:{slug}"
"""


@dataclass
class Importer:
    """A second Podium's command line, with a data directory and competition folders of its own."""

    home: Path
    source: str
    key: str

    @property
    def environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PODIUM_", "KAGGLE"))}
        return {
            **kept, "HOME": str(self.home), "PODIUM_DATA_DIR": str(self.home / "data"),
            "PODIUM_COMPETITIONS_DIR": str(self.home / "competitions"),
        }  # fmt: skip

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return run_podium(
            words, env=self.environment, capture_output=True, text=True,
            timeout=120, check=False,
        )  # fmt: skip

    def bring(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.run(*self.bringing(*words))

    def bringing(self, *words: str) -> tuple[str, ...]:
        return ("import", "kaggle", *words, "--from", self.source,
                "--key-file", str(self.home / "key"))  # fmt: skip

    def impatient(self, *words: str) -> subprocess.CompletedProcess[str]:
        """The command with a limit of two seconds for silence, in place of two minutes."""
        code = (
            "from app.cli.root import app\n"
            "from app.importers import kaggle_source\n"
            "kaggle_source.SILENT_SECONDS = 2.0\n"
            "app()"
        )
        return subprocess.run(
            [sys.executable, "-c", code, *words], env=self.environment, capture_output=True,
            text=True, timeout=120, check=False,
        )  # fmt: skip

    def prepared_folder(self, slug: str) -> Path:
        folder = self.home / "competitions" / slug
        folder.mkdir()
        (folder / "competition.toml").write_text(TOML.replace("{slug}", slug))
        (folder / "prepare.py").write_text(PREPARE)
        return folder


@pytest.fixture
def importer(podium, tmp_path):
    key = podium.researcher_key()
    (tmp_path / "key").write_text(key)
    (tmp_path / "competitions").mkdir()
    return Importer(tmp_path, podium.server.url, key)


@pytest.fixture
def served(podium):
    """A competition on the first Podium, with labels from which the second one makes its own."""
    folder = podium.folder()
    chance = random.Random(5)
    lines = [f"x{row},{chance.random()!r}" for row in range(40)]
    (folder / "public" / "labels.csv").write_text("\n".join(["id,target", *lines]) + "\n")
    (folder / "public" / "images").mkdir()
    (folder / "public" / "images" / "1.bin").write_bytes(chance.randbytes(3_000_000))
    assert podium.send_folder(folder).status_code == 201
    return folder


def test_a_competition_with_a_folder_is_prepared_and_imported(importer, served):
    importer.prepared_folder(served.name)

    ran = importer.bring(served.name, "--json")
    again = importer.bring(served.name, "--json")

    assert ran.returncode == 0, ran.stderr
    (done,) = json.loads(ran.stdout)["imported"]
    assert (done["status"], done["version"], done["created"]) == ("ready", 1, True)
    shown = json.loads(importer.run("competitions", "show", served.name, "--json").stdout)
    assert (shown["rows"], shown["teams"]) == (20, len(BOARD))
    (version,) = (importer.home / "data" / "competitions" / served.name).iterdir()
    provenance = json.loads((version / "provenance.json").read_text())
    assert provenance["source"] == f"podium:{served.name}"
    assert provenance["kaggle"]["metric"] == "root_mean_squared_error"
    assert len(provenance["archive"]["sha256"]) == len(provenance["leaderboard"]["sha256"]) == 64
    assert "Predict `target`" in (version / "description.md").read_text()
    assert json.loads(again.stdout)["imported"][0]["created"] is False
    assert importer.key not in ran.stdout + ran.stderr


def test_an_interrupted_import_goes_on_where_it_was(podium, importer, served):
    importer.prepared_folder(served.name)
    slow = CutOnce(podium.server.port, after=1 << 60, pause=0.05)
    importer.source = slow.url
    partial = importer.home / "data" / "kaggle" / served.name / "archive" / f"{served.name}.zip"

    process = PodiumProcess(
        importer.bringing(served.name), env=importer.environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (partial.is_file() and partial.stat().st_size > 1e6):
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    there = partial.stat().st_size
    slow.pause = 0.0
    ran = importer.bring(served.name)
    slow.close()

    assert 1e6 < there < 3_000_000
    assert ran.returncode == 0, ran.stderr
    assert slow.ranges >= 1
    with zipfile.ZipFile(partial) as archive:
        assert archive.testzip() is None
    assert "version 1 (ready)" in ran.stdout


def test_without_a_folder_a_draft_says_what_is_left_to_do(importer, served):
    ran = importer.bring(served.name)
    folder = importer.home / "competitions" / served.name
    checked = importer.run("check", served.name)
    again = importer.bring(served.name)

    assert (again.returncode, "has no prepare.py" in again.stderr) == (1, True)
    assert ran.returncode == 0, ran.stderr
    for word in ("metric", "columns", "split"):
        assert word in ran.stdout
        assert word in (folder / "README.md").read_text()
    toml = (folder / "competition.toml").read_text()
    assert "root_mean_squared_error" in toml
    assert '"target" = ' in toml
    assert len((folder / "leaderboard.csv").read_text().splitlines()) == len(BOARD) + 1
    assert checked.returncode == 1
    assert "metric.name" in checked.stderr
    assert "submission.columns.target" in checked.stderr


def test_a_failed_import_stops_none_of_the_others(podium, importer, served):
    other = podium.folder()
    assert podium.send_folder(other).status_code == 201
    (importer.prepared_folder(served.name) / "prepare.py").write_text("x = 1 / 0\n")

    ran = importer.bring(served.name, other.name, "--json")
    told = json.loads(ran.stdout)

    assert ran.returncode == 1
    assert f"{served.name}: not imported: " in ran.stderr
    assert "ZeroDivisionError" in ran.stderr
    assert [one["slug"] for one in told["readiness"]] == [served.name, other.name]
    assert [(one["slug"], one["status"]) for one in told["imported"]] == [(other.name, "draft")]
    assert len(told["imported"][0]["todo"]) == 4


def test_readiness_is_told_before_anything_is_downloaded(importer, served):
    ran = importer.bring(served.name, "no-such-competition")
    only = importer.bring(served.name, "--check-only")

    assert ran.returncode == 1
    assert "There is no competition 'no-such-competition'" in ran.stderr
    assert "Nothing was downloaded" in ran.stderr
    assert only.returncode == 0
    assert "'Tiny', metric 'root_mean_squared_error'" in only.stderr
    assert not (importer.home / "data" / "kaggle").exists()


def test_wrong_credentials_are_told_without_a_traceback(importer, served):
    (importer.home / "key").write_text("pod_researcher_wrong")

    wrong = importer.bring(served.name)
    none = importer.run("import", "kaggle", served.name)

    for ran in (wrong, none):
        assert ran.returncode == 1
        assert "Traceback" not in ran.stderr
        assert "credentials" in ran.stderr


def test_a_source_that_is_away_is_told(importer, served):
    importer.source = f"http://127.0.0.1:{free_port()}"

    ran = importer.bring(served.name)

    assert (ran.returncode, "cannot be reached" in ran.stderr) == (1, True)


def test_a_source_that_goes_silent_is_given_up(importer, served):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        (importer.home / "key").write_text("pod_researcher_x")
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        words = importer.bringing(served.name)
        words = (*words[: words.index("--from") + 1], address, *words[-2:])
        ran = importer.impatient(*words)

    assert ran.returncode == 1
    assert "Traceback" not in ran.stderr
    assert "cannot be reached" in ran.stderr


def test_a_download_that_goes_silent_is_asked_for_again(podium, importer, served):
    importer.prepared_folder(served.name)
    stalling = CutOnce(podium.server.port, after=1_000_000, stalls=True)
    importer.source = stalling.url

    ran = importer.impatient(*importer.bringing(served.name))
    stalling.close()

    assert ran.returncode == 0, ran.stderr
    assert stalling.cuts == 1


def test_obstacles_are_told_before_a_download(importer, served, podium, tiny):
    folder = importer.prepared_folder(served.name)
    (folder / "prepare.py").unlink()
    without_prepare = importer.bring(served.name)
    (folder / "competition.toml").unlink()
    without_toml = importer.bring(served.name)
    (importer.home / "key").write_text(podium.run(tiny).document["key"])
    runs_key = importer.bring(served.name)

    assert "podium import mle-bench" in without_prepare.stderr
    assert "is there without a competition.toml" in without_toml.stderr
    assert "the key of a run" in runs_key.stderr
    for ran in (without_prepare, without_toml, runs_key):
        assert (ran.returncode, "Traceback" in ran.stderr) == (1, False)
    assert not (importer.home / "data" / "kaggle").exists()


def test_a_damaged_archive_is_named_with_its_path(importer, served):
    importer.prepared_folder(served.name)
    assert importer.bring(served.name).returncode == 0
    archive = importer.home / "data" / "kaggle" / served.name / "archive" / f"{served.name}.zip"
    data = bytearray(archive.read_bytes())
    data[len(data) // 2] ^= 1
    times = archive.stat()
    archive.write_bytes(data)
    os.utime(archive, ns=(times.st_atime_ns, times.st_mtime_ns))

    ran = importer.bring(served.name)

    assert ran.returncode == 1
    assert f"{archive} cannot be unpacked. Delete it" in ran.stderr.replace("\n", " ")


def test_429_is_asked_again_after_the_pause_it_names(podium, importer, served):
    importer.prepared_folder(served.name)
    busy = CutOnce(podium.server.port, after=1 << 60)
    busy.refusals = 2
    importer.source = busy.url

    ran = importer.bring(served.name)
    busy.close()

    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.count("Too many at once. Asking again in 1 s") == 2


def test_a_board_alone_is_replaced_from_a_file_and_from_the_source(importer, served, tmp_path):
    importer.prepared_folder(served.name)
    assert importer.bring(served.name).returncode == 0
    file = tmp_path / "board.csv"
    file.write_text(
        "\ufeffRank,TeamId,TeamName,LastSubmissionDate,Score,SubmissionCount,TeamMemberUserNames\n"
        "2,7,b,2020-01-01,0.9,1,u\n1,8,a,2020-01-01,0.1,1,v\n3,9,c,2020-01-01,,1,w\n",
        encoding="utf-8",
    )

    first = importer.run("import", "leaderboard", served.name, str(file))
    shown = json.loads(importer.run("competitions", "show", served.name, "--json").stdout)
    second = importer.run(
        "import", "leaderboard", served.name, "--kaggle", "--from", importer.source,
        "--key-file", str(importer.home / "key"),
    )  # fmt: skip
    both = importer.run("import", "leaderboard", served.name, str(file), "--kaggle")

    assert first.returncode == 0, first.stderr
    assert (shown["version"], shown["teams"]) == (2, 2)
    assert second.returncode == 0, second.stderr
    assert f"board of {len(BOARD)} teams" in second.stdout
    assert both.returncode == 1


@pytest.mark.parametrize(
    "text", ["", "a,b\n1,2\n", "score,Score\n1,2\n", "Rank,Score\n1,egg\n", "\x00\xff"]
)
def test_a_bad_board_is_refused(importer, served, tmp_path, text):
    importer.prepared_folder(served.name)
    assert importer.bring(served.name).returncode == 0
    (tmp_path / "board.csv").write_bytes(text.encode("latin-1"))

    ran = importer.run("import", "leaderboard", served.name, str(tmp_path / "board.csv"))

    assert ran.returncode == 1
    assert "Traceback" not in ran.stderr
