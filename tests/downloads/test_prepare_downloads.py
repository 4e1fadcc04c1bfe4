"""`podium prepare --kaggle` against a server that fails as Kaggle does."""

from __future__ import annotations

import json
import signal
import subprocess
import zipfile

import pytest

from tests.downloads.conftest import CACTUS, FakeKaggle
from tests.forkserver import PodiumProcess
from tests.graders.conftest import wait_until
from tests.storage.disks import small_disk


def test_a_competition_is_downloaded_prepared_and_not_asked_for_again(kaggle: FakeKaggle) -> None:
    archive = kaggle.competition()
    done = kaggle.podium("prepare", CACTUS, "--kaggle")
    asked = len(kaggle.requests())
    again = kaggle.podium("prepare", CACTUS, "--kaggle", "--json")

    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert (kaggle.data / "downloads" / f"{CACTUS}.zip").read_bytes() == archive.read_bytes()
    made = kaggle.data / "prepared" / CACTUS
    assert len(zipfile.ZipFile(made / "public" / "train.zip").namelist()) == 48
    assert "Predict it." in (made / "description.md").read_text()
    assert kaggle.sent() == archive.stat().st_size + 1  # one byte tells the length
    assert json.loads(again.stdout)[0]["state"] == "present"
    assert len(kaggle.requests()) == asked
    assert kaggle.podium("prepare", "--verify").returncode == 0
    assert kaggle.podium("import", "folder", made).returncode == 0


def test_grading_only_downloads_what_its_prepare_py_reads(kaggle: FakeKaggle) -> None:
    archive = kaggle.competition(megabytes=8)
    done = kaggle.podium("prepare", CACTUS, "--kaggle", "--grading-only")
    only = kaggle.root()

    assert done.returncode == 0, done.stderr
    assert kaggle.sent() < 70_000 < archive.stat().st_size
    partial = kaggle.data / "downloads" / f"{CACTUS}.zip.partial"
    assert partial.stat().st_size == archive.stat().st_size
    assert partial.stat().st_blocks * 512 < 200_000

    whole = kaggle.podium("prepare", CACTUS, "--kaggle", "--delete-archives")
    assert whole.returncode == 0, whole.stderr
    assert kaggle.sent() == archive.stat().st_size + 1  # what was there was not sent again
    assert kaggle.root() != only
    assert not (kaggle.data / "downloads" / f"{CACTUS}.zip").exists()


def test_pauses_and_cut_connections_cost_no_byte_twice(kaggle: FakeKaggle) -> None:
    archive = kaggle.competition()
    kaggle.fail(busy=2, refused=2, cuts=3, cut_after=300_000)

    done = kaggle.podium("prepare", CACTUS, "--kaggle")

    assert done.returncode == 0, done.stderr
    assert "429" in done.stderr
    assert (kaggle.data / "downloads" / f"{CACTUS}.zip").read_bytes() == archive.read_bytes()
    firsts = [line for line in kaggle.requests() if line.endswith(f" {archive.stat().st_size}")]
    assert len(firsts) <= 2  # the package's own request, which is not read


def test_an_address_that_has_expired_is_asked_for_anew(kaggle: FakeKaggle) -> None:
    kaggle.competition()
    kaggle.fail(expired=1)

    done = kaggle.podium("prepare", CACTUS, "--kaggle")

    assert done.returncode == 0, done.stderr
    assert sum("DownloadDataFiles" in line for line in kaggle.requests()) == 2  # not one a request


def test_a_changed_archive_is_downloaded_anew(kaggle: FakeKaggle) -> None:
    kaggle.competition()
    only = kaggle.podium("prepare", CACTUS, "--kaggle", "--grading-only")
    archive = kaggle.competition(megabytes=2)

    whole = kaggle.podium("prepare", CACTUS, "--kaggle")

    assert only.returncode == 0, only.stderr
    assert whole.returncode == 0, whole.stderr
    assert "has another archive now" in whole.stderr
    assert (kaggle.data / "downloads" / f"{CACTUS}.zip").read_bytes() == archive.read_bytes()


def test_a_changed_archive_is_noticed_by_a_preparation_that_asks(kaggle: FakeKaggle) -> None:
    kaggle.competition(megabytes=8)
    kaggle.fail(etags={CACTUS: '"old"'})
    before = kaggle.podium("prepare", CACTUS, "--kaggle", "--grading-only")
    file = kaggle.work / "competitions" / CACTUS / "prepare.py"
    needed = "    raw.open('train.zip').close()\n    write_csv(train,"
    file.write_text(file.read_text().replace("    write_csv(train,", needed))
    kaggle.fail(etags={CACTUS: '"new"'})

    done = kaggle.podium("prepare", CACTUS, "--kaggle", "--grading-only")

    assert before.returncode == 0, before.stderr
    assert done.returncode == 0, done.stderr
    assert "has another archive now" in done.stderr


def test_a_member_with_a_wrong_crc_is_downloaded_again(kaggle: FakeKaggle) -> None:
    archive = kaggle.competition()
    middle = archive.stat().st_size // 2
    kaggle.fail(wrong_bytes={CACTUS: middle}, wrong=1)

    done = kaggle.podium("prepare", CACTUS, "--kaggle")

    assert done.returncode == 0, done.stderr
    assert "1 of its members is damaged" in done.stderr
    assert (kaggle.data / "downloads" / f"{CACTUS}.zip").read_bytes() == archive.read_bytes()


def test_a_member_that_stays_damaged_is_named(kaggle: FakeKaggle) -> None:
    archive = kaggle.competition()
    with zipfile.ZipFile(archive) as packed:
        place = packed.getinfo("train.csv").header_offset + 60
    kaggle.fail(wrong_bytes={CACTUS: place}, wrong=1000)

    done = kaggle.podium("prepare", CACTUS, "--kaggle", "--grading-only")

    assert done.returncode == 1
    assert "train.csv has another CRC-32 than the archive says, twice" in done.stderr
    assert not (kaggle.data / "prepared" / CACTUS).exists()


def test_one_failure_stops_no_other_and_each_is_explained(kaggle: FakeKaggle) -> None:
    for slug in (CACTUS, "with-rules", "gone", "closed", "no-ranges-here"):
        kaggle.competition(slug, megabytes=0.5)
    broken = kaggle.work / "competitions" / "no-ranges-here" / "prepare.py"
    broken.write_text("def prepare_files(raw, public, private):\n    raise RuntimeError('mine')\n")
    kaggle.fail(rules=["with-rules"], gone=["gone"], closed=["closed"])

    done = kaggle.podium(
        "prepare", "--kaggle", "gone", "closed", "with-rules", "no-ranges-here", CACTUS, "--json"
    )

    told = {one["slug"]: one for one in json.loads(done.stdout)}
    assert done.returncode == 1
    assert told[CACTUS]["state"] == "prepared"
    assert "competitions/with-rules/rules in a browser" in told["with-rules"]["detail"]
    assert "Kaggle has no data of gone, or no longer" in told["gone"]["detail"]
    assert "closed cannot be joined any more" in told["closed"]["detail"]
    assert told["no-ranges-here"]["detail"].endswith("RuntimeError: mine")
    assert "secret" not in done.stdout + done.stderr
    assert "signature" not in done.stdout + done.stderr


def test_a_server_that_sends_no_parts_is_told(kaggle: FakeKaggle) -> None:
    kaggle.competition()
    kaggle.fail(no_ranges=True)
    done = kaggle.podium("prepare", CACTUS, "--kaggle")

    assert done.returncode == 1
    assert "parts cannot be downloaded" in done.stderr


def test_a_disk_without_room_is_told_before_the_download(kaggle: FakeKaggle) -> None:
    kaggle.competition()
    file = kaggle.home / f"{CACTUS}.zip"
    with zipfile.ZipFile(file, "a", allowZip64=True) as packed:
        entry = zipfile.ZipInfo("huge.bin")
        packed.writestr(entry, b"")
        packed.getinfo("huge.bin").file_size = 1 << 50  # only its entry says so
    done = kaggle.podium("prepare", CACTUS, "--kaggle")

    assert done.returncode == 1
    assert "There is no room for" in done.stderr
    assert kaggle.sent() < 100_000


@pytest.mark.parametrize(
    ("kilobytes", "told"),
    [(64, "No space left on device). What was"), (2500, "prepare.py ended with 'OSError")],
    ids=["download", "preparation"],
)
def test_a_disk_that_becomes_full_is_named_and_the_next_start_goes_on(
    kaggle: FakeKaggle, monkeypatch: pytest.MonkeyPatch, kilobytes: int, told: str
) -> None:
    monkeypatch.setattr(  # as where somebody else fills the disk after it was looked at
        FakeKaggle, "environment",
        {**kaggle.environment, "PODIUM_DISK_RESERVE_PERCENT": "0", "COLUMNS": "500"},
    )  # fmt: skip
    kaggle.competition()
    with small_disk(kaggle.data, kilobytes) as disk:
        done = kaggle.podium("prepare", CACTUS, "--kaggle")
        assert done.returncode == 1
        assert f"/{kaggle.work.name}/data" in done.stderr
        assert " is full" in done.stderr
        assert told in done.stderr
        assert "ree space, and" in done.stderr
        assert not list(disk.glob("prepared/*"))

        subprocess.run(["mount", "-o", "remount,size=40m", disk], check=True)
        again = kaggle.podium("prepare", CACTUS, "--kaggle")
        assert again.returncode == 0, again.stderr


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["lines", "json"])
def test_what_was_prepared_before_an_interrupt_is_told(kaggle: FakeKaggle, form: list[str]) -> None:
    kaggle.competition()
    kaggle.competition("slow", megabytes=2)
    begun = kaggle.work / "begun"
    file = kaggle.work / "competitions" / "slow" / "prepare.py"
    file.write_text(
        "import pathlib, time\n"
        "def prepare(raw, public, private):\n"
        f"    pathlib.Path({str(begun)!r}).touch()\n"
        "    time.sleep(600)\n"
    )
    words = ["prepare", "--kaggle", "slow", CACTUS, "--jobs", "1", *form]

    process = PodiumProcess(
        words, env=kaggle.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    first = "" if form else process.stdout.readline()
    wait_until(begun.exists, seconds=60)
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)

    assert process.returncode != 0
    if form:
        assert [(one["slug"], one["state"]) for one in json.loads(rest)] == [(CACTUS, "prepared")]
    else:
        assert first.startswith(f"{CACTUS}: prepared. To import it: podium import folder ")
