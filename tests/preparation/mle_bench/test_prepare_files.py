"""Each prepare.py makes what MLE-bench's own code makes of the same raw data, byte for byte."""

from __future__ import annotations

import json
import os
import re
import zipfile
from pathlib import Path

import pandas as pd
import py7zr
import pytest

from app.domain.competition import TOML, parse_competition
from app.importers.mle_bench import answers_of, find_sample
from app.preparation.run import main
from tests.preparation.mle_bench.raw import RAW_DATA
from tests.preparation.mle_bench.reference import UNASSERTED, digests, files_below, reference

ROOT = Path(__file__).parents[3]
REFERENCE = json.loads(Path(__file__).with_name("reference.json").read_text())
CHECKOUT = "PODIUM_TEST_MLE_BENCH"
# Files of MLE-bench that no grader and no agent needs: answers in the form of a submission, tables
# and images beside an archive of them.
LEFT_OUT = {
    "hubmap-kidney-segmentation": {"private/gold_submission.csv"},
    "kuzushiji-recognition": {"private/gold_submission.csv"},
    "tensorflow2-question-answering": {"private/gold_submission.csv"},
    "vesuvius-challenge-ink-detection": {"private/gold_submission.csv"},
    "dogs-vs-cats-redux-kernels-edition": {"public/train/", "public/test/"},
    **{
        f"text-normalization-challenge-{name}-language": {
            f"public/{code}_{table}.csv" for table in ("train", "test_2", "sample_submission_2")
        }
        for name, code in (("english", "en"), ("russian", "ru"))
    },
}
# MLE-bench gives py7zr a folder where it takes a file, so that its archives have no images.
EMPTY_IN_MLE_BENCH = {"invasive-species-monitoring": {"public/train.7z", "public/test.7z"}}

# Archives that are Kaggle's own, byte for byte.
COPY_ARCHIVES = {"freesound-audio-tagging-2019", "multi-modal-gesture-recognition"}


def prepared(slug: str, raw: Path, folder: Path, *, grading_only: bool = False) -> dict[str, str]:
    for part in ("public", "private"):
        (folder / part).mkdir(parents=True)
    file = ROOT / "competitions" / slug / "prepare.py"
    main(file, raw, folder / "public", folder / "private", grading_only=grading_only)
    return digests(folder)


def expected_of(slug: str) -> dict[str, str]:
    left_out = LEFT_OUT.get(slug, set()) | EMPTY_IN_MLE_BENCH.get(slug, set())
    return {name: digest for name, digest in REFERENCE[slug].items() if name not in left_out}


def test_every_competition_with_such_a_file_is_compared() -> None:
    files = (ROOT / "competitions").glob("*/prepare.py")
    slugs = {file.parent.name for file in files if "def prepare_files(" in file.read_text()}
    assert slugs == set(RAW_DATA) == set(REFERENCE)


@pytest.mark.parametrize("slug", RAW_DATA)
def test_files_are_those_of_mle_bench(slug: str, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    RAW_DATA[slug](raw)
    expected = expected_of(slug)
    more = EMPTY_IN_MLE_BENCH.get(slug, set())

    made = prepared(slug, raw, tmp_path / "of-files")
    assert {name: digest for name, digest in made.items() if name not in more} == expected
    assert all(name in made and REFERENCE[slug][name].startswith("7z of 0 ") for name in more)

    archive = tmp_path / "raw.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in files_below(raw):
            packed.write(raw / name, name)
    assert prepared(slug, archive, tmp_path / "of-archive") == made

    for_grading = prepared(slug, archive, tmp_path / "for-grading", grading_only=True)
    sample = find_sample(tmp_path / "of-files")
    assert sample is not None
    text = (ROOT / "competitions" / slug / TOML).read_text(encoding="utf-8")
    assert answers_of(parse_competition(slug, text), tmp_path / "for-grading")
    needed = {f"{sample.parent.name}/{sample.name}"}
    needed |= {name for name in made if name.startswith("private/")}
    tables = {name: digest for name, digest in for_grading.items() if not name.endswith("/")}
    assert {name: made.get(name) for name in tables} == tables
    assert needed <= set(tables)


def test_the_page_names_every_competition_that_is_not_simply_equal() -> None:
    page = (ROOT / "docs" / "competitions.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:4] for line in page.splitlines() if re.match(r"\| [a-z0-9-]+-", line)]
    said = {
        slug: how
        for slugs, how, _ in rows
        for slug in slugs.strip().split(", ")
        if slug in REFERENCE
    }
    kinds = {"zip": "zip archives", "7z": "7z archives", "tar": "tar archives"}
    kinds |= {"parquet": "Parquet files"}
    made = {
        (slug, kinds[digest.split()[0]])
        for slug, files in REFERENCE.items()
        for name, digest in files.items()
        if digest.split()[0] in kinds and slug not in COPY_ARCHIVES
    }
    assert [pair for pair in made if pair[1] not in page_row(rows, pair[0])] == []
    assert set(said) == {slug for slug, _ in made} | set(LEFT_OUT) | set(UNASSERTED)
    assert f"| the other {len(REFERENCE) - len(said)} | equal |" in page


def page_row(rows: list[list[str]], slug: str) -> str:
    return " ".join(how for slugs, how, _ in rows if slug in slugs)


def test_images_that_mle_bench_loses_are_there(tmp_path: Path) -> None:
    (slug,) = EMPTY_IN_MLE_BENCH
    raw = tmp_path / "raw"
    raw.mkdir()
    RAW_DATA[slug](raw)

    prepared(slug, raw, tmp_path)

    labels = pd.read_csv(tmp_path / "public" / "train_labels.csv.zip")
    for name, images in (
        ("train", labels),
        ("test", pd.read_csv(tmp_path / "private/answers.csv")),
    ):
        with py7zr.SevenZipFile(tmp_path / "public" / f"{name}.7z") as packed:
            packed.extractall(tmp_path)
        files = {path.stem: path.read_bytes() for path in (tmp_path / name).iterdir()}
        assert files == {str(image): b"\x00\xff%d" % image for image in images["name"]}


@pytest.mark.skipif(CHECKOUT not in os.environ, reason=f"{CHECKOUT} names no checkout of MLE-bench")
def test_the_reference_still_says_the_same() -> None:
    assert reference(Path(os.environ[CHECKOUT])) == REFERENCE
