"""A prepared folder has a manifest of all its files, or it is not there."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from tests.cli.conftest import Command
from tests.forkserver import PodiumProcess, run_podium

COMPETITIONS = Path(__file__).parents[3] / "competitions"
SLUG = "aerial-cactus-identification"
IMAGES = [f"c{number}.jpg" for number in range(50)]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundled competition, its raw files with images of some bytes, and what was made of them."""
    home = tmp_path_factory.mktemp("prepared")
    shutil.copytree(COMPETITIONS / SLUG, home / "competitions" / SLUG)
    raw = home / "raw" / SLUG
    (raw / "train").mkdir(parents=True)
    for image in IMAGES:
        (raw / "train" / image).write_bytes(image.encode() * 9)
    lines = [f"{image},{number % 2}" for number, image in enumerate(IMAGES)]
    (raw / "train.csv").write_text("\n".join(["id,has_cactus", *lines]))
    shutil.make_archive(str(raw), "zip", raw)
    shutil.rmtree(raw)
    done = run_podium(
        ["prepare", SLUG, "--raw", str(raw.parent), "--grading-only"],
        env={**os.environ, "PODIUM_DATA_DIR": str(home / "data"),
             "PODIUM_COMPETITIONS_DIR": str(home / "competitions")},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return home


@pytest.fixture
def raw(prepared: Path, tmp_path: Path) -> Path:
    """The raw files and the competition, of the test's own."""
    shutil.copytree(prepared / "competitions" / SLUG, tmp_path / "competitions" / SLUG)
    shutil.copytree(prepared / "raw", tmp_path / "raw")
    return tmp_path / "raw"


@pytest.fixture
def made(prepared: Path, raw: Path, tmp_path: Path) -> Path:
    """What was made of them, of the test's own."""
    shutil.copytree(prepared / "data", tmp_path / "data", symlinks=True)
    return tmp_path / "data" / "prepared" / SLUG


def test_the_manifest_tells_files_source_code_and_self_test(made: Path, raw: Path) -> None:
    manifest = json.loads((made / "manifest.json").read_text())

    there = {
        path.relative_to(made).as_posix(): path.read_bytes()
        for path in made.rglob("*")
        if path.is_file() and path.name != "manifest.json"
    }
    assert {file["name"]: (file["bytes"], file["sha256"]) for file in manifest["files"]} == {
        name: (len(data), hashlib.sha256(data).hexdigest()) for name, data in there.items()
    }
    lines = [f"{hashlib.sha256(there[name]).hexdigest()} {len(there[name])} {name}\n"
             for name in sorted(there)]  # fmt: skip
    assert manifest["root"] == hashlib.sha256("".join(lines).encode()).hexdigest()
    assert manifest["source"]["bytes"] == (raw / f"{SLUG}.zip").stat().st_size
    assert len(manifest["source"]["members"]) == len(IMAGES) + 1 + 1  # with the folder itself
    prepare = COMPETITIONS / SLUG / "prepare.py"
    assert manifest["made_by"]["prepare.py"] == hashlib.sha256(prepare.read_bytes()).hexdigest()
    assert manifest["made_by"].keys() >= {"podium", "python", "pandas", "scikit-learn", "numpy"}
    assert manifest["self_test"]["answers_score"] == 1.0
    assert manifest["self_test"]["answers_medal"] == "gold"
    assert manifest["self_test"]["rows"] == 10


def test_the_same_raw_files_give_the_same_root_digest(podium: Command, made: Path, raw: Path):
    first = json.loads((made / "manifest.json").read_text())["root"]
    podium("prepare", SLUG, "--raw", raw, "--grading-only")
    assert json.loads((made / "manifest.json").read_text())["root"] == first


def test_verify_names_every_file_that_differs(podium: Command, made: Path) -> None:
    whole = podium("prepare", "--verify")
    assert whole.returncode == 0, whole.stderr
    assert "files are as listed" in whole.stdout

    answers = made / "private" / "test.csv"
    text = answers.read_text()
    answers.write_text(text.replace("1", "2", 1))
    (made / "public" / "train.csv").unlink()
    (made / "public" / "more.csv").write_text("a\n")
    (made / "public" / "link").symlink_to("/etc")
    found = podium("prepare", "--verify", SLUG, "--json")

    (one,) = json.loads(found.stdout)
    assert (found.returncode, one["is_whole"]) == (1, False)
    assert one["differences"] == {
        "missing": ["public/train.csv"],
        "extra": ["public/link", "public/more.csv"],
        "changed": {"private/test.csv": "has other bytes"},
    }


def test_verify_says_what_is_not_there(podium: Command, made: Path) -> None:
    nowhere = podium("prepare", "--verify", "/nonexistent")
    assert nowhere.returncode == 1
    assert "There is no folder /nonexistent" in nowhere.stderr

    (made / "manifest.json").unlink()
    unlisted = podium("prepare", "--verify", made)
    assert unlisted.returncode == 1
    assert "has no manifest.json" in unlisted.stderr


def test_an_import_refuses_what_the_manifest_does_not_list(podium: Command, made: Path) -> None:
    sample = made / "public" / "sample_submission.csv"
    text = sample.read_text()
    sample.write_text(text + "\n")
    refused = podium("import", "folder", made)
    sample.write_text(text)
    taken = podium("import", "folder", made)

    assert refused.returncode == 1
    assert "public/sample_submission.csv: has" in refused.stderr
    assert taken.returncode == 0, taken.stderr


def test_a_manifest_that_was_changed_is_not_trusted(podium: Command, made: Path) -> None:
    file = made / "manifest.json"
    manifest = json.loads(file.read_text())
    manifest["files"][0]["sha256"] = "0" * 64
    file.write_text(json.dumps(manifest))

    verified, imported = podium("prepare", "--verify"), podium("import", "folder", made)
    checked = podium("check", made)

    for done in (verified, imported, checked):
        assert done.returncode == 1
        assert "root digest is not that of the files" in done.stderr


def test_another_archive_is_told(podium: Command, made: Path, raw: Path, tmp_path: Path) -> None:
    downloads = tmp_path / "data" / "downloads"
    downloads.mkdir()
    shutil.copyfile(raw / f"{SLUG}.zip", downloads / f"{SLUG}.zip")
    same = podium("prepare", "--verify")
    shutil.make_archive(str(downloads / SLUG), "zip", COMPETITIONS / SLUG)
    other = podium("prepare", "--verify")

    assert same.returncode == 0, same.stderr
    assert other.returncode == 1
    assert "is not the archive of which these files were made" in other.stderr


def test_a_folder_that_fails_its_self_test_is_not_there(
    podium: Command, raw: Path, tmp_path: Path
) -> None:
    file = tmp_path / "competitions" / SLUG / "prepare.py"
    file.write_text(file.read_text().replace("has_cactus=0.5", "has_cactus=5"))
    done = podium("prepare", SLUG, "--raw", raw, "--grading-only")

    assert "sample_submission.csv" in done.stderr
    assert "out of range" in done.stderr
    assert done.returncode == 1
    assert list((tmp_path / "data" / "prepared").iterdir()) == []


@pytest.mark.parametrize("layout", ["mle-bench", "mle-dojo"])
def test_what_others_prepared_is_taken(
    podium: Command, made: Path, tmp_path: Path, layout: str
) -> None:
    inner, answers = (
        ("prepared", "test.csv") if layout == "mle-bench" else ("data", "test_answer.csv")
    )
    theirs = tmp_path / "theirs" / SLUG / inner
    shutil.copytree(made / "public", theirs / "public")
    (theirs / "private").mkdir()
    shutil.copyfile(made / "private" / "test.csv", theirs / "private" / answers)
    shutil.rmtree(made)

    done = podium("prepare", SLUG, "--from", tmp_path / "theirs")
    none = podium("prepare", SLUG, "--from", tmp_path)

    assert done.returncode == 0, done.stderr
    assert podium("prepare", "--verify").returncode == 0
    assert (made / "public" / "train.csv").samefile(theirs / "public" / "train.csv")
    manifest = json.loads((made / "manifest.json").read_text())
    assert manifest["source"] == {"kind": layout}
    assert none.returncode == 1
    assert f"neither {SLUG}/prepared/private" in none.stderr


def test_a_replacement_that_was_interrupted_is_undone(podium: Command, made: Path, raw: Path):
    made.rename(made.with_name(f"{SLUG}.old"))
    (made.parent / f"{SLUG}.partial" / "rest").mkdir(parents=True)
    (raw / f"{SLUG}.zip").write_bytes(b"")

    failed = podium("prepare", SLUG, "--raw", raw, "--grading-only")

    assert failed.returncode == 1
    assert [path.name for path in made.parent.iterdir()] == [SLUG]
    assert podium("prepare", "--verify").returncode == 0


def test_a_prepare_py_ends_with_the_command_that_started_it(
    podium: Command, raw: Path, tmp_path: Path
) -> None:
    started = tmp_path / "started"
    (tmp_path / "competitions" / SLUG / "prepare.py").write_text(
        "import os, pathlib, time\n"
        "def prepare_files(raw, public, private):\n"
        f"    pathlib.Path({str(started)!r}).write_text(str(os.getpid()))\n"
        "    time.sleep(600)\n"
    )
    process = PodiumProcess(
        ["prepare", SLUG, "--raw", str(raw)], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        env={**os.environ, "PODIUM_DATA_DIR": str(tmp_path / "data"),
             "PODIUM_COMPETITIONS_DIR": str(tmp_path / "competitions")},
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (started.is_file() and started.read_text()):
        time.sleep(0.05)
    child = psutil.Process(int(started.read_text()))
    second = podium("prepare", SLUG, "--raw", raw)

    process.send_signal(signal.SIGKILL)
    process.wait()
    psutil.wait_procs([child], timeout=10)

    assert not child.is_running()
    assert second.returncode == 1
    assert "Another process is preparing" in second.stderr


def test_an_import_of_several_names_the_folder_that_changed_and_takes_the_others(
    podium: Command, made: Path, tmp_path: Path
) -> None:
    other = tmp_path / "prepared-elsewhere" / "cacti"
    shutil.copytree(made, other)
    (other / "manifest.json").unlink()
    (made / "public" / "train.csv").write_text("id\n")

    done = podium("import", "folder", made, other)

    assert done.returncode == 1
    assert f"{SLUG}: not imported: public/train.csv: " in done.stderr
    assert "cacti imported as version 1" in done.stdout
