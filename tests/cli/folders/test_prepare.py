"""`podium prepare`: raw files become a folder that can be imported, or nothing changes."""

from __future__ import annotations

import gzip
import json
import shutil
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from app.errors import BadCompetition
from app.services.competitions.run_prepare import run_prepare
from tests.cli.conftest import Command

BIKE = Path(__file__).parents[3] / "competitions" / "bike-sharing-demand"


@pytest.fixture
def bike(tmp_path: Path) -> Path:
    """The bundled competition where the command looks, without what is to be made again."""
    return shutil.copytree(
        BIKE, tmp_path / "competitions" / BIKE.name,
        ignore=shutil.ignore_patterns("public", "private"),
    )  # fmt: skip


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    return write_raw(tmp_path)


def write_raw(directory: Path) -> Path:
    """A directory with Kaggle's train.csv: all labelled hours."""
    tables = [
        pd.read_csv(BIKE / name)
        for name in ("public/train.csv.gz", "public/test.csv.gz", "private/answers.csv.gz")
    ]
    train, test, answers = tables
    hours = pd.concat([train, test.merge(answers.drop(columns="Usage"), on="datetime")])
    folder = directory / "raw" / BIKE.name
    folder.mkdir(parents=True)
    hours.to_csv(folder / "train.csv", index=False)
    return folder.parent


def test_raw_files_become_what_can_be_imported(podium: Command, bike: Path, raw: Path) -> None:
    done = podium("prepare", bike.name, "--raw", raw)

    assert done.returncode == 0, done.stderr
    made = Path(done.stdout.split("podium import folder ")[1].strip())
    for part in ("public", "private"):
        for file in (BIKE / part).iterdir():
            again = (made / part / file.name).read_bytes()
            assert gzip.decompress(again) == gzip.decompress(file.read_bytes())
    imported = podium("import", "folder", made)
    assert imported.returncode == 0, imported.stderr
    assert "version 1" in imported.stdout


@pytest.mark.parametrize("packed", [False, True], ids=["files", "archive"])
def test_a_single_competitions_files_may_lie_there_themselves(
    podium: Command, bike: Path, raw: Path, packed: bool
) -> None:
    where = raw / bike.name
    if packed:
        with zipfile.ZipFile(raw / f"{bike.name}.zip", "w") as archive:
            archive.write(where / "train.csv", "train.csv")
        shutil.rmtree(where)
        where = raw

    done = podium("prepare", bike.name, "--raw", where, "--json")

    (one,) = json.loads(done.stdout)
    assert one["slug"] == bike.name
    assert (Path(one["folder"]) / "private" / "answers.csv.gz").is_file()


def test_what_cannot_be_prepared_is_named(
    podium: Command, bike: Path, tiny: Path, raw: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()

    no_folder = podium("prepare", "nowhere", "--raw", raw)
    no_script = podium("prepare", tiny.name, "--raw", raw)
    no_files = podium("prepare", bike.name, "--raw", tmp_path / "empty")
    no_directory = podium("prepare", bike.name, "--raw", tmp_path / "nowhere")

    assert [d.returncode for d in (no_folder, no_script, no_files)] == [1, 1, 1]
    assert no_directory.returncode == 2
    assert "There is no competition folder" in no_folder.stderr
    assert "has no prepare.py" in no_script.stderr
    assert f"neither a folder {bike.name} nor {bike.name}.zip" in no_files.stderr


def test_one_that_cannot_be_prepared_stops_none_of_the_others(
    podium: Command, bike: Path, tiny: Path, raw: Path
) -> None:
    done = podium("prepare", tiny.name, bike.name, "--raw", raw, "--json")

    assert done.returncode == 1
    assert [one["slug"] for one in json.loads(done.stdout)] == [bike.name]
    assert done.stderr.startswith(f"{tiny.name}: not prepared: ")
    assert f"neither a folder {tiny.name} nor {tiny.name}.zip" in done.stderr


def test_a_failing_prepare_leaves_what_was_prepared_before(
    podium: Command, bike: Path, raw: Path
) -> None:
    (made,) = json.loads(podium("prepare", bike.name, "--raw", raw, "--json").stdout)
    before = sorted(Path(made["folder"]).rglob("*"))
    (raw / bike.name / "train.csv").write_text("datetime,count\n")

    failed = podium("prepare", bike.name, "--raw", raw)

    assert failed.returncode == 1
    assert f"{bike.name}/prepare.py" in failed.stderr
    assert "Usecols do not match columns" in failed.stderr
    assert sorted(Path(made["folder"]).rglob("*")) == before
    assert [p.name for p in Path(made["folder"]).parent.iterdir()] == [bike.name]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ('(public / "all.csv.gz").write_bytes((private / "answers.csv.gz").read_bytes())',
         "public/all.csv.gz: has the same bytes as private/answers.csv.gz"),
        ('(public / "a\\nb").touch()', "a name may not contain control characters"),
    ],
)  # fmt: skip
def test_what_an_import_would_refuse_is_not_prepared(
    podium: Command, bike: Path, raw: Path, more: str, why: str
) -> None:
    """It said how to import the folder, which the import refused."""
    with (bike / "prepare.py").open("a") as code:
        code.write(f"_made = prepare\n\ndef prepare(raw, public, private):\n"
                   f"    _made(raw, public, private)\n    {more}\n")  # fmt: skip

    failed = podium("prepare", bike.name, "--raw", raw)

    assert failed.returncode == 1
    assert why in failed.stderr


@pytest.mark.parametrize(
    ("code", "why"),
    [("import sys; sys.exit(3)", "it ended with status 3"),
     ("import os; os.kill(os.getpid(), 9)", "it was killed")],
)  # fmt: skip
def test_how_a_prepare_ended_without_a_word_is_said(tmp_path: Path, code: str, why: str) -> None:
    (tmp_path / "prepare.py").write_text(code)

    with pytest.raises(BadCompetition, match=why):
        run_prepare(tmp_path, tmp_path, tmp_path)


@pytest.mark.parametrize("packed", [False, True], ids=["files", "archive"])
def test_mle_benchs_competition_is_prepared_for_grading_only(
    podium: Command, tmp_path: Path, packed: bool
) -> None:
    slug = "aerial-cactus-identification"
    shutil.copytree(BIKE.parent / slug, tmp_path / "competitions" / slug)
    raw = tmp_path / "raw" / slug
    raw.mkdir(parents=True)
    images = [f"c{number}.jpg" for number in range(50)]
    lines = [f"{image},{number % 2}" for number, image in enumerate(images)]
    (raw / "train.csv").write_text("\n".join(["id,has_cactus", *lines]))
    if packed:
        shutil.make_archive(str(raw), "zip", raw)
        shutil.rmtree(raw)

    whole = podium("prepare", slug, "--raw", raw.parent)
    done = podium("prepare", slug, "--raw", raw.parent, "--grading-only")

    assert whole.returncode == 1
    assert "The raw files have no train/c" in whole.stderr
    assert done.returncode == 0, done.stderr
    made = tmp_path / "data" / "prepared" / slug
    assert sorted(file.name for file in (made / "public").iterdir()) == [
        "sample_submission.csv", "train.csv",
    ]  # fmt: skip
    checked = podium("check", made)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    imported = podium("import", "folder", made)
    assert imported.returncode == 0, imported.stderr


def test_grading_only_is_refused_where_nothing_can_be_left_out(
    podium: Command, bike: Path, raw: Path
) -> None:
    done = podium("prepare", bike.name, "--raw", raw, "--grading-only")

    assert done.returncode != 0
    assert "Leave out --grading-only" in done.stderr
