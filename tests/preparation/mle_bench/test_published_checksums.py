"""Files that follow from names and seeds alone have the MD5s of MLE-bench's checksums.yaml."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import pandas as pd
import pytest

from app.preparation.run import main
from tests.preparation.mle_bench.raw import RAW_DATA

COMPETITIONS = Path(__file__).parents[3] / "competitions"


def zip_of_names(archive: Path, names: Iterable[str]) -> None:
    with zipfile.ZipFile(archive, "w") as packed:
        for name in names:
            packed.writestr(name, b"")


def covers(folder: Path) -> None:
    """All 75,000 of Kaggle's names."""
    names = (f"Cover/{number:05d}.jpg" for number in range(1, 75_001))
    zip_of_names(folder / "raw.zip", names)


def cats_and_dogs(folder: Path) -> None:
    """All 25,000 of Kaggle's names."""
    names = (f"train/{animal}.{n}.jpg" for animal in ("cat", "dog") for n in range(12_500))
    zip_of_names(folder / "train.zip", names)


def plants_of_hawaii(folder: Path) -> None:
    """All 2,295 of Kaggle's names; the labels are not known."""
    table = pd.DataFrame({"name": range(1, 2296), "invasive": 0})
    table.to_csv(folder / "train_labels.csv", index=False)


@pytest.mark.parametrize(
    ("slug", "write", "expected"),
    [
        (
            "alaska2-image-steganalysis",
            covers,
            {
                "private/test.csv": "f90b06076f750fb56ae35c3df715ada1",
                "public/sample_submission.csv": "f4623502821bbd1399ecc8f5d66fc243",
            },
        ),
        (
            "dogs-vs-cats-redux-kernels-edition",
            cats_and_dogs,
            {
                "private/answers.csv": "98f293fd3f37f967c17aa9263e866c30",
                "public/sample_submission.csv": "cfe8f41567220b6fcbbdc4eb4df7230f",
            },
        ),
        (
            "invasive-species-monitoring",
            plants_of_hawaii,
            {"private/sample_submission.csv": "3fc85f5b579bbf85aa605899887df903"},
        ),
        (
            "mlsp-2013-birds",
            RAW_DATA["mlsp-2013-birds"],
            {"public/sample_submission.csv": "6c0430ab5959d2e718911c3bd7a26a2f"},
        ),
        (
            "vesuvius-challenge-ink-detection",
            RAW_DATA["vesuvius-challenge-ink-detection"],
            {"public/sample_submission.csv": "034491951a7c40fbcac61ebe97ec4629"},
        ),
    ],
)
def test_md5_is_the_published_one(
    slug: str, write: Callable[[Path], None], expected: dict[str, str], tmp_path: Path
) -> None:
    for part in ("raw", "public", "private"):
        (tmp_path / part).mkdir()
    write(tmp_path / "raw")
    archive = tmp_path / "raw" / "raw.zip"

    raw = archive if archive.exists() else tmp_path / "raw"
    file = COMPETITIONS / slug / "prepare.py"
    main(file, raw, tmp_path / "public", tmp_path / "private", grading_only=True)

    found = {
        name: hashlib.md5((tmp_path / name).read_bytes(), usedforsecurity=False).hexdigest()
        for name in expected
    }
    assert found == expected
