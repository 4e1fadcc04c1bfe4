"""`podium import mle-bench`: prepared data becomes versions, and what is wrong is told."""

import hashlib
import json
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import app
from app.errors import BadCompetition
from app.preparation.raw_files import RawFiles

ROOT = Path(__file__).parents[2]
VECTORS = ROOT / "tests" / "catalogue" / "vectors"
SLUG = "aerial-cactus-identification"


@pytest.fixture
def data(tmp_path):
    with zipfile.ZipFile(VECTORS / f"{SLUG}.zip") as archive:
        archive.extractall(tmp_path / "data" / SLUG)
    return tmp_path / "data"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("PODIUM_DATA_DIR", str(tmp_path / "podium"))
    monkeypatch.setenv("PODIUM_COMPETITIONS_DIR", str(ROOT / "competitions"))

    def call(*arguments):
        command = ["import", "mle-bench", *map(str, arguments), "--json"]
        result = CliRunner().invoke(app, command)
        found = json.loads(result.stdout) if result.exit_code in (0, 1) else []
        return result.exit_code, found

    return call


def only(found):
    (outcome,) = found
    return outcome["slug"], outcome["state"]


def checkout(tmp_path, board=None, sums=None):
    folder = tmp_path / "repo" / "mlebench" / "competitions" / SLUG
    folder.mkdir(parents=True)
    if board is not None:
        (folder / "leaderboard.csv").write_text(board)
    if sums is not None:
        (folder / "checksums.yaml").write_text(sums)
    return tmp_path / "repo"


def test_prepared_data_becomes_a_version_that_is_there_the_second_time(run, data):
    assert run("--data-dir", data, SLUG)[0] == 0

    code, found = run("--data-dir", data, SLUG)

    assert code == 0
    assert only(found) == (SLUG, "present")
    assert found[0]["version"] == 1


def test_all_takes_what_is_prepared_and_a_suite_tells_what_is_not(run, data):
    assert only(run("--data-dir", data, "--all")[1]) == (SLUG, "imported")

    found = run("--data-dir", data, "--suite", "mle-bench-low")[1]

    states = {outcome["slug"]: outcome["state"] for outcome in found}
    assert len(states) == 22
    assert {slug for slug, state in states.items() if state != "skipped"} == {SLUG}


def test_the_board_of_a_checkout_is_taken_and_its_checksums_are_compared(run, data, tmp_path):
    answers = (data / SLUG / "prepared" / "private" / "test.csv").read_bytes()
    md5 = hashlib.md5(answers, usedforsecurity=False).hexdigest()
    board = "teamName,score\n" + "".join(f"t{i},{1 - i / 100}\n" for i in range(40))
    board += "nobody,\n"
    repo = checkout(tmp_path, board, f"private:\n  test.csv: {md5}\n")

    code, found = run("--data-dir", data, SLUG, "--repo", repo)

    assert (code, only(found)) == (0, (SLUG, "imported")), found
    sums, without, lines = found[0]["notes"]
    assert without == "1 team without a score was left out"
    assert sums == "1 files have the MD5 sums of checksums.yaml"
    assert lines.startswith("the leaderboard has other ")  # which are then not those of our folder


@pytest.mark.parametrize(
    "board",
    [b"score\n" + b"x" * 200_000, b"score\n\xff\n", b'score\n"0.5\n0.9"\n' + b"0.1\n" * 40],
    ids=["long", "latin", "two scores in one cell"],
)
def test_a_board_that_is_no_csv_of_scores_is_told(run, data, tmp_path, board):
    repo = checkout(tmp_path, "score\n0.1\n")
    (repo / "mlebench" / "competitions" / SLUG / "leaderboard.csv").write_bytes(board)

    code, found = run("--data-dir", data, SLUG, "--repo", repo)

    assert (code, only(found)) == (1, (SLUG, "wrong"))
    assert found[0]["problems"][0]["file"] == "leaderboard.csv"


def test_another_checksum_is_told_with_the_file(run, data, tmp_path):
    repo = checkout(tmp_path, sums=f"private:\n  test.csv: {'0' * 32}\n")

    code, found = run("--data-dir", data, SLUG, "--repo", repo)

    assert (code, only(found)) == (1, (SLUG, "wrong"))
    assert found[0]["problems"][0]["file"] == "private/test.csv"


@pytest.mark.parametrize("name", ["public/sample_submission.csv", "private/test.csv"])
def test_a_git_lfs_pointer_is_not_taken_for_data(run, data, name):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
    (data / SLUG / "prepared" / name).write_text(pointer)

    code, found = run("--data-dir", data, SLUG)

    assert code == 1
    assert "Git-LFS" in found[0]["problems"][0]["message"]


def test_missing_answers_are_told_and_do_not_stop_the_others(run, data):
    (data / SLUG / "prepared" / "private" / "test.csv").unlink()

    code, found = run("--data-dir", data, SLUG, "dogs-vs-cats-redux-kernels-edition")

    assert code == 1
    assert [outcome["state"] for outcome in found] == ["wrong", "skipped"]
    assert found[0]["problems"][0]["file"] == "private/test.csv"


def test_public_files_of_all_folders_and_the_description_are_taken(run, data, tmp_path):
    public = data / SLUG / "prepared" / "public"
    (public / "images").mkdir()
    (public / "images" / "a.txt").write_text("a picture")
    (public / "description.md").write_text("# A task\n")

    assert run("--data-dir", data, SLUG)[0] == 0

    (picture,) = (tmp_path / "podium").rglob("images/a.txt")
    (description,) = (tmp_path / "podium").rglob("description.md")
    assert picture.read_text() == "a picture"
    assert description.read_text() == "# A task\n"
    assert description.parent == picture.parents[2]


def test_of_the_public_files_the_sample_alone_can_be_taken(run, data, tmp_path):
    (data / SLUG / "prepared" / "public" / "train.csv").write_text("id,has_cactus\na,1\n")

    assert run("--data-dir", data, SLUG, "--sample-only")[0] == 0

    assert not list((tmp_path / "podium").rglob("train.csv"))
    assert list((tmp_path / "podium").rglob("sample_submission.csv"))


def test_a_link_to_a_folder_is_told_and_not_left_out(run, data, tmp_path):
    public = data / SLUG / "prepared" / "public"
    (tmp_path / "large").mkdir()
    (public / "more").mkdir()
    (public / "more" / "images").symlink_to(tmp_path / "large")

    code, found = run("--data-dir", data, SLUG)

    assert (code, only(found)) == (1, (SLUG, "wrong"))
    assert found[0]["problems"][0]["file"] == "more/images"
    with RawFiles(public) as raw, pytest.raises(BadCompetition, match="is a link to a folder"):
        raw.names()


@pytest.mark.parametrize("arguments", [[], [SLUG, "--all"], ["--all", "--suite", "mle-bench"]])
def test_one_way_of_choosing_must_be_given(run, data, arguments):
    assert run("--data-dir", data, *arguments)[0] == 2
