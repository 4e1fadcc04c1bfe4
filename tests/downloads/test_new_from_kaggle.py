"""`podium new --from-kaggle`: of Kaggle's archive the train table becomes a competition."""

from __future__ import annotations

import io
import json
import random
import subprocess
import zipfile

import pandas as pd
import pytest
from sklearn import datasets
from sklearn.model_selection import train_test_split

from tests.api.conftest import Podium, packed, podium, server
from tests.downloads.conftest import FakeKaggle

__all__ = ["podium", "server"]  # fixtures
ONE_SERVER = pytest.mark.parametrize("server", ["sqlite"], indirect=True)
WINE = "wines-of-kaggle"
IMAGES = random.Random(1).randbytes(8_000_000)
SAMPLE = "Id,target\n1,0\n"


def wine() -> pd.DataFrame:
    table = datasets.load_wine(as_frame=True).frame
    table.insert(0, "Id", [f"w{number}" for number in range(len(table))])
    return table


def zipped(name: str, content: str) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as inner:
        inner.writestr(name, content)
    return archive.getvalue()


TRAIN = wine().to_csv(index=False)
FILES: dict[str, str | bytes] = {
    "images.bin": IMAGES, "test.csv": "Id,alcohol\n1,2\n", "train.csv": TRAIN,
    "more.bin": IMAGES, "sample_submission.csv": SAMPLE,
}  # fmt: skip


def new(kaggle: FakeKaggle, *words: object) -> subprocess.CompletedProcess[str]:
    return kaggle.podium("new", *words, "--into", kaggle.work, "--no-baseline")


def said(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 1, done.stdout
    assert "Traceback" not in done.stderr
    assert "secret" not in done.stderr
    return " ".join(done.stderr.split())


@ONE_SERVER
def test_the_train_table_becomes_a_competition_that_grades(
    kaggle: FakeKaggle, podium: Podium
) -> None:
    archive = kaggle.files(WINE, FILES)

    done = kaggle.podium("new", "--from-kaggle", WINE, "--into", kaggle.work, "--json")

    assert done.returncode == 0, done.stderr
    made, folder = json.loads(done.stdout), kaggle.work / WINE
    assert (made["target"], made["id"], made["split"]) == ("target", "Id", "random")
    assert made["data"] == f"train.csv of Kaggle's competition {WINE}"
    assert made["baseline"] > 0.8
    assert kaggle.sent() < 300_000 < archive.stat().st_size
    held = pd.read_csv(folder / "private" / "answers.csv")
    assert set(held["Id"]) == set(train_test_split(wine(), test_size=0.1, random_state=0)[1]["Id"])
    assert (
        f"from train.csv of Kaggle's competition {WINE}: a random"
        in (folder / "README.md").read_text()
    )
    assert [file.name for file in (kaggle.data / "downloads").iterdir() if file.is_dir()] == []

    sent = podium.admin.post("/v1/competitions", files={"archive": ("w.zip", packed(folder))})
    assert sent.status_code == 201, sent.text
    graded = podium.run(folder, feedback="full").submit(
        (folder / "private" / "answers.csv").read_bytes()
    )
    assert graded.json()["grade"]["score"] == 1.0


def test_what_was_downloaded_is_not_asked_for_again(kaggle: FakeKaggle) -> None:
    kaggle.files(WINE, FILES)
    kaggle.fail(busy=1, refused=1, cuts=1, cut_after=30_000)

    first = new(kaggle, "one", "--from-kaggle", WINE)
    sent = kaggle.sent()
    second = new(kaggle, "two", "--from-kaggle", WINE, "--seed", 3, "--test-share", 0.25)

    assert first.returncode == second.returncode == 0, first.stderr + second.stderr
    assert "429" in first.stderr
    assert kaggle.sent() == sent
    rows = [pd.read_csv(kaggle.work / name / "private" / "answers.csv") for name in ("one", "two")]
    assert [len(one) for one in rows] == [18, 45]


def test_an_archive_that_was_replaced_is_begun_anew(kaggle: FakeKaggle) -> None:
    kaggle.files(WINE, {**FILES, "train.csv": IMAGES})
    assert "cannot be read as a table" in said(new(kaggle, "one", "--from-kaggle", WINE))
    kaggle.files(WINE, {**FILES, "later.bin": IMAGES})
    (kaggle.data / "downloads" / f"{WINE}.zip").unlink(missing_ok=True)

    done = new(kaggle, "one", "--from-kaggle", WINE, "--table", "test.csv", "--target", "alcohol")
    again = new(kaggle, "one", "--from-kaggle", WINE)

    assert "test.csv has 1 rows" in said(done)
    assert again.returncode == 0, again.stderr
    assert "Kaggle has another archive now; starting anew." in done.stderr + again.stderr


def test_a_packed_table_and_ids_that_repeat(kaggle: FakeKaggle) -> None:
    table = wine().assign(Id="same").to_csv(index=False)
    kaggle.files(
        WINE,
        {"data/train.csv.zip": zipped("train.csv", table), "train_extra.csv": "a\n1\n",
         "a/sampleSubmission.csv.zip": zipped("sampleSubmission.csv", SAMPLE)},
    )  # fmt: skip

    done = new(kaggle, "own-ids", "--from-kaggle", WINE)

    assert done.returncode == 0, done.stderr
    assert "'Id' repeats a value in data/train.csv.zip" in " ".join(done.stdout.split())
    assert "id" in pd.read_csv(kaggle.work / "own-ids" / "public" / "test.csv").columns


ONE_OF_TWO = {"train_a.csv": TRAIN, "train_b.csv": "a\n1\n", "sample_submission.csv": SAMPLE}


@pytest.mark.parametrize(
    ("files", "words", "sentence"),
    [
        ({"train.zip": IMAGES, "labels.csv": TRAIN}, [],
         "none of its 2 files is a CSV or Parquet file with train in its name. Its tables are"),
        ({"readme.txt": "x"}, [], "It has no tables at all."),
        (ONE_OF_TWO, [], "several train tables: train_a.csv, train_b.csv. Name one by --table"),
        (ONE_OF_TWO, ["--table", "none.csv"], "has no file 'none.csv'. Its tables are sample"),
        ({"a/x.csv": TRAIN, "b/x.csv": TRAIN}, ["--table", "x.csv"], "has 'x.csv' several times"),
        ({"train.csv": TRAIN}, [], "name the target by --target. The columns of train.csv are Id,"),
        ({"train.csv": TRAIN, "sample_submission.csv": "Id,red,white\n"}, [],
         "asks for red, white, which train.csv does not have: name the target by --target"),
        ({"train.csv": TRAIN, "sample_submission.csv": "Id,target,hue\n"}, [],
         "asks for several columns: target, hue. Name the one to predict by --target"),
        (FILES, ["--target", "prize"], "--target: there is no column 'prize'; the columns are Id"),
        (FILES, ["--table", "images.bin", "--target", "y"], "cannot be read as a table"),
        ({"train.csv.zip": b"no archive"}, [], "train.csv.zip of Kaggle's archive is not a zip"),
    ],
)  # fmt: skip
def test_what_cannot_be_made_is_a_sentence(
    kaggle: FakeKaggle, files: dict[str, str | bytes], words: list[str], sentence: str
) -> None:
    kaggle.files(WINE, files)

    assert sentence in said(new(kaggle, "--from-kaggle", WINE, *words))
    assert not (kaggle.work / WINE).exists()


def test_one_of_several_tables_is_chosen(kaggle: FakeKaggle) -> None:
    kaggle.files(WINE, ONE_OF_TWO)

    done = new(kaggle, "chosen", "--from-kaggle", WINE, "--table", "train_a.csv")

    assert done.returncode == 0, done.stderr
    assert f"data: train_a.csv of Kaggle's competition {WINE}" in done.stdout


def test_what_kaggle_refuses_is_told(kaggle: FakeKaggle) -> None:
    for slug in ("with-rules", "closed"):
        kaggle.files(slug, FILES)
    kaggle.fail(rules=["with-rules"], closed=["closed"])

    assert "competitions/with-rules/rules in a browser" in said(
        new(kaggle, "--from-kaggle", "with-rules")
    )
    assert "closed cannot be joined any more" in said(new(kaggle, "--from-kaggle", "closed"))
    assert "Kaggle has no data of gone, or no longer" in said(new(kaggle, "--from-kaggle", "gone"))


def test_words_that_do_not_fit_each_other_are_told_before_anything_is_asked(
    kaggle: FakeKaggle,
) -> None:
    (kaggle.work / "there").mkdir()

    for words, sentence in (
        (["x"], "Name a file with --data, or a competition on Kaggle with --from-kaggle"),
        (["x", "--data", "a.csv", "--from-kaggle", "y"], "Name a file with --data, or a"),
        (["--data", "a.csv", "--target", "y"], "With --data name the competition and --target"),
        (["there", "--from-kaggle", WINE], "exists already"),
        (["x", "--from-kaggle", "../x"], "'../x' is not the name of a competition on Kaggle"),
    ):
        assert sentence in said(new(kaggle, *words))
    assert not any("Download" in line for line in kaggle.requests())
