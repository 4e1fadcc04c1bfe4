"""Each prepare.py makes what MLE-bench's own code makes of the same raw data, byte for byte."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import pytest

from app.preparation.run import main
from tests.preparation.mle_bench.raw import RAW_DATA
from tests.preparation.mle_bench.reference import digests, reference

ROOT = Path(__file__).parents[3]
REFERENCE = json.loads(Path(__file__).with_name("reference.json").read_text())
CHECKOUT = "PODIUM_TEST_MLE_BENCH"
# Files of MLE-bench that no grader and no agent needs: answers in the form of a submission, tables
# beside an archive of them.
LEFT_OUT = {
    "detecting-insults-in-social-commentary": {"private/gold_submission.csv"},
    "hms-harmful-brain-activity-classification": {"private/gold_submission.csv"},
    "hubmap-kidney-segmentation": {"private/gold_submission.csv"},
    "kuzushiji-recognition": {"private/gold_submission.csv"},
    "tensorflow2-question-answering": {"private/gold_submission.csv"},
    "tabular-playground-series-may-2022": {"private/gold_submission.csv"},
    **{
        f"text-normalization-challenge-{name}-language": {
            f"public/{code}_{table}.csv" for table in ("train", "test_2", "sample_submission_2")
        }
        for name, code in (("english", "en"), ("russian", "ru"))
    },
}


def prepared(slug: str, raw: Path, folder: Path) -> dict[str, str]:
    for part in ("public", "private"):
        (folder / part).mkdir(parents=True)
    file = ROOT / "competitions" / slug / "prepare.py"
    main(file, raw, folder / "public", folder / "private")
    return digests(folder)


def test_every_competition_with_such_a_file_is_compared() -> None:
    files = (ROOT / "competitions").glob("*/prepare.py")
    slugs = {file.parent.name for file in files if "def prepare_files(" in file.read_text()}
    assert slugs == set(RAW_DATA) == set(REFERENCE)


@pytest.mark.parametrize("slug", RAW_DATA)
def test_files_are_those_of_mle_bench(slug: str, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    RAW_DATA[slug](raw)
    expected = {
        name: digest
        for name, digest in REFERENCE[slug].items()
        if name not in LEFT_OUT.get(slug, ())
    }

    assert prepared(slug, raw, tmp_path / "of-files") == expected

    archive = tmp_path / "raw.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(path for path in raw.rglob("*") if path.is_file()):
            packed.write(file, file.relative_to(raw))
    assert prepared(slug, archive, tmp_path / "of-archive") == expected


@pytest.mark.skipif(CHECKOUT not in os.environ, reason=f"{CHECKOUT} names no checkout of MLE-bench")
def test_the_reference_still_says_the_same() -> None:
    assert reference(Path(os.environ[CHECKOUT])) == REFERENCE
