"""Commands on a disk that is full, or fills up: a sentence, and no result that looks whole."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.cli.system_errors import in_words
from app.services.operations.backup_format import MANIFEST
from tests.factories import write_competition
from tests.forkserver import run_podium
from tests.migrated import make_data_directory, migrated_sqlite
from tests.server import free_port
from tests.storage.disks import fill, small_disk

REPORT = ("report", "mine", "--padding", "fail")
Done = subprocess.CompletedProcess[str]


def environment(data: Path, **settings: str) -> dict[str, str]:
    empty = data.parent / "none"
    empty.mkdir(exist_ok=True)
    return {
        **{k: v for k, v in os.environ.items() if not k.startswith("PODIUM_")},
        "PODIUM_DATA_DIR": str(data),
        "PODIUM_COMPETITIONS_DIR": str(empty),
        **settings,
    }


def podium(data: Path, *arguments: object, **settings: str) -> Done:
    return run_podium(
        arguments, env=environment(data, **settings),
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def without_room(data: Path, *arguments: object) -> Done:
    """The same with a standard output that takes nothing."""
    with Path("/dev/full").open("w") as full:
        return run_podium(
            arguments, env=environment(data),
            stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=120,
        )  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory with a competition of half a megabyte."""
    made = tmp_path / "data"
    make_data_directory(made)
    folder = write_competition(tmp_path / "tiny", rows=9000)
    assert podium(made, "import", "folder", folder).returncode == 0
    return made


def make_run(data: Path) -> None:
    create = ("experiments", "create", "mine", "--agent", "a", "--model", "m")
    assert podium(data, *create).returncode == 0
    run = ("runs", "create", "--experiment", "mine", "--competition", "tiny", "--seeds", 1)
    assert podium(data, *run).returncode == 0


def assert_told(done: Done, *words: str) -> None:
    assert done.returncode == 1, done.stderr[-2000:]
    assert "Traceback" not in done.stderr
    assert "disk is full" in done.stderr
    for each in words:
        assert each in done.stderr


def test_a_backup_that_finds_no_room_is_told_and_is_none(data: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 200) as disk:
        assert_told(podium(data, "backup", disk / "backup"), "Remove the folder")
        assert not (disk / "backup" / MANIFEST).exists()

        checked = podium(data, "restore", "--check", disk / "backup")
        assert checked.returncode == 1
        assert "Traceback" not in checked.stderr


def test_a_restored_database_that_finds_no_room_is_told_and_stays_empty(
    data: Path, tmp_path: Path
) -> None:
    assert podium(data, "backup", tmp_path / "backup").returncode == 0

    with small_disk(tmp_path / "disk", 300) as disk:
        into = {"PODIUM_DATABASE_URL": f"sqlite:///{disk}/podium.db"}
        new = tmp_path / "new"
        assert_told(podium(new, "restore", tmp_path / "backup", **into), "free space there")
        subprocess.run(["mount", "-o", "remount,size=4096k", disk], check=True)
        again = podium(new, "restore", tmp_path / "backup", **into)
        assert again.returncode == 0, again.stderr


@pytest.mark.parametrize("percent", ["0", "5"])
def test_restored_files_that_find_no_room_are_told_and_restored_later(
    data: Path, tmp_path: Path, percent: str
) -> None:
    assert podium(data, "backup", tmp_path / "backup").returncode == 0

    with small_disk(tmp_path / "disk", 300) as disk:
        new = disk / "data"
        restore = ("restore", tmp_path / "backup")
        into = {
            "PODIUM_DATABASE_URL": f"sqlite:///{tmp_path}/restored.db",
            "PODIUM_DISK_RESERVE_PERCENT": percent,
        }
        told = podium(new, *restore, **into)
        assert_told(told, f"The disk of {new} has no room", "no row was restored", "restore again")
        assert "Nothing was stored" not in told.stderr
        subprocess.run(["mount", "-o", "remount,size=4096k", disk], check=True)
        again = podium(new, *restore, **into)
        assert again.returncode == 0, again.stderr


def test_an_import_that_finds_no_room_is_told_and_leaves_no_version(tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "large", rows=60_000)
    with small_disk(tmp_path / "disk", 1500) as disk:
        made = disk / "data"
        make_data_directory(made)
        assert_told(podium(made, "import", "folder", folder), "No space left on device")
        listed = podium(made, "competitions", "list")
        assert listed.returncode == 0, listed.stderr
        assert "large" not in listed.stdout

        small = write_competition(tmp_path / "small")
        done = podium(made, "import", "folder", small, folder, small, "--json")
        assert_told(done, "No space left on device")
        assert [one["slug"] for one in json.loads(done.stdout)] == ["small"]


def test_a_first_start_that_finds_no_room_is_told_in_a_sentence(tmp_path: Path) -> None:
    folders = tmp_path / "folders"
    write_competition(folders / "large", rows=60_000)
    with small_disk(tmp_path / "disk", 1500) as disk:
        made = disk / "data"
        make_data_directory(made)
        settings = {"PODIUM_COMPETITIONS_DIR": str(folders)}
        assert_told(podium(made, "serve", "--port", free_port(), **settings), "free space there")

    with small_disk(tmp_path / "smaller", 100) as disk:
        assert_told(podium(disk / "data", "serve", "--port", free_port()), "free space there")


def test_a_start_whose_database_finds_no_room_is_told_at_once(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    with small_disk(tmp_path / "disk", 4000) as disk:
        shutil.copy(migrated_sqlite(), disk / "podium.db")
        ballast = fill(disk)
        url = {"PODIUM_DATABASE_URL": f"sqlite:///{disk}/podium.db"}
        began = time.monotonic()
        for words in (("serve", "--port", free_port()), ("competitions", "list")):
            done = podium(data, *words, **url)
            assert_told(done, str(disk / "podium.db"), "Free space there")
        assert time.monotonic() - began < 20  # of the 30 s for a database that is away

        ballast.unlink()
        assert podium(data, "competitions", "list", **url).returncode == 0


def test_output_that_finds_no_room_is_told(data: Path) -> None:
    done = without_room(data, "competitions", "list", "--json")

    assert_told(done, "No space left on device")


def test_a_server_that_cannot_print_its_first_key_ends_and_revokes_it(tmp_path: Path) -> None:
    made = tmp_path / "data"
    made.mkdir()
    done = without_room(made, "serve", "--port", free_port())

    assert_told(done, "No space left on device", "could not be shown, so it was revoked")
    (key,) = json.loads(podium(made, "keys", "list", "--json").stdout)
    assert (key["role"], key["revoked_at"] is None) == ("admin", False)


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_the_keys_of_new_runs_that_cannot_be_printed_are_revoked(
    data: Path, form: tuple[str, ...]
) -> None:
    create = ("experiments", "create", "mine", "--agent", "a", "--model", "m")
    assert podium(data, *create).returncode == 0
    words = ("runs", "create", "--experiment", "mine", "--competition", "tiny", "--seeds", 2)
    done = without_room(data, *words, *form)

    assert_told(done, "No space left on device", "podium runs new-key")
    keys = json.loads(podium(data, "keys", "list", "--json").stdout)
    assert [(one["role"], one["revoked_at"] is None) for one in keys] == [("run", False)] * 2


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_key_that_cannot_be_printed_is_revoked(data: Path, form: tuple[str, ...]) -> None:
    make_run(data)
    (run,) = json.loads(podium(data, "runs", "list", "--json").stdout)
    before = json.loads(podium(data, "keys", "list", "--json").stdout)

    for words in (("keys", "create", "admin"), ("runs", "new-key", run["id"])):
        done = without_room(data, *words, *form)
        assert done.returncode == 1, done.stderr[-2000:]
        assert "No space left on device" in done.stderr
        assert "could not be printed, so it was revoked" in done.stderr
        assert "Traceback" not in done.stderr

    after = json.loads(podium(data, "keys", "list", "--json").stdout)
    new = [one for one in after if one not in before]
    assert [one["role"] for one in new] == ["admin", "run"]
    assert all(one["revoked_at"] for one in new)


def test_a_task_of_harbor_that_finds_no_room_is_none(data: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 60) as disk:
        done = podium(data, "harbor-task", "tiny", disk / "task", "--verifier-url", "http://podium")
        assert_told(done, f"No space left on device: {disk}")
        assert list(disk.iterdir()) == []


def test_a_result_is_written_whole_or_leaves_the_file_as_it_was(data: Path, tmp_path: Path) -> None:
    make_run(data)
    drawn = ("plot", "leaderboard", "tiny")
    for words, name in ((drawn, "board.png"), ((*REPORT, "--json"), "report.json")):
        with small_disk(tmp_path / name, 8) as disk:
            file = disk / name
            file.write_text("of yesterday")
            fill(disk)
            done = podium(data, *words, "--out", file)
            assert done.returncode == 1
            assert f"--out: {file} cannot be written: No space left on device." in done.stderr
            assert sorted(each.name for each in disk.iterdir()) == ["ballast", name]
            assert file.read_text() == "of yesterday"


def test_a_place_that_takes_no_file_is_told(data: Path, tmp_path: Path) -> None:
    make_run(data)
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    for option in ("--out", "--parquet"):
        for place, why in (
            (tmp_path / "missing" / "file", "No such file"),
            (loop, "a symbolic link leads to itself."),
        ):
            done = podium(data, *REPORT, option, place)
            assert done.returncode == 1
            assert f"{option}: {place} cannot be written: {why}" in done.stderr


def test_a_result_goes_to_a_pipe_or_a_link_as_to_a_file(data: Path, tmp_path: Path) -> None:
    make_run(data)
    target = tmp_path / "target"
    target.write_text("")
    target.chmod(0o600)
    (tmp_path / "link").symlink_to(target)
    for place in ("/dev/stdout", tmp_path / "link"):
        done = podium(data, *REPORT, "--json", "--out", place)
        assert done.returncode == 0, done.stderr
        written = done.stdout if place == "/dev/stdout" else target.read_text()
        assert json.loads(written)["origin"]
    assert (tmp_path / "link").is_symlink()
    assert target.stat().st_mode & 0o777 == 0o600


def test_a_full_disk_that_the_system_does_not_name_is_told_with_where_to_look(data: Path) -> None:
    done = without_room(data, "competitions", "list")

    assert_told(done, "No space left on device, on a disk", "its output", "PODIUM_DATA_DIR")
    named = in_words(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/data/x"))
    assert named is not None
    assert named.detail.startswith("No space left on device: /data/x. The command stopped")


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EMFILE, os.strerror(errno.EMFILE)),
        RuntimeError("can't start new thread"),
        MemoryError(),
        ImportError("_core.so: failed to map segment from shared object"),
    ],
)
def test_a_limit_of_the_process_is_told(error: Exception) -> None:
    told = in_words(error)

    assert told is not None
    assert "no more memory, threads or open files: " in told.detail
    assert "ulimit -a" in told.detail
    assert in_words(RuntimeError("another")) is None


def test_a_command_without_a_directory_for_temporary_files_names_the_variable(
    tmp_path: Path,
) -> None:
    """As where the file system is read only: this process may write no byte to a file."""
    folder = write_competition(tmp_path / "tiny")
    program = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); "
        "from app.cli import app; app()"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, "check", folder],
        env=environment(tmp_path / "data"),
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "set TMPDIR to a directory that this user can write" in " ".join(done.stderr.split())
