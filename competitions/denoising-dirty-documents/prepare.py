"""A fifth of Kaggle's stained pages is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from app.preparation.grey_levels import grey_levels
from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the pages; the answers are the grey levels of the clean ones, pixel by pixel."""
    pages = [Path(name) for name in raw.names(within="train.zip")]
    images = [page.name for page in pages if str(page.parent) == "train" and page.suffix == ".png"]
    train, test = train_test_split(images, test_size=0.2, random_state=0)
    for archive, folder, part, target in (
        ("train.zip", "train", train, "train"),
        ("train.zip", "train", test, "test"),
        ("train_cleaned.zip", "train_cleaned", train, "train_cleaned"),
    ):
        raw.copy_bulk(
            ((f"{folder}/{image}", public / target / image) for image in part), within=archive
        )
    answers = pd.concat(pixels(raw, image) for image in sorted(test))
    write_csv(answers.assign(value=1), public / "sampleSubmission.csv")
    write_csv(answers, private / "answers.csv")


def pixels(raw: RawFiles, image: str) -> pd.DataFrame:
    """The pixels of a clean page, row by row, counted from 1."""
    with raw.open(f"train_cleaned/{image}", within="train_cleaned.zip") as file:
        grey = grey_levels(file) / 255.0
    rows, columns = np.indices(grey.shape) + 1
    stem = Path(image).stem
    places = zip(rows.ravel(), columns.ravel(), strict=True)
    ids = [f"{stem}_{row}_{column}" for row, column in places]
    return pd.DataFrame({"id": ids, "value": grey.ravel()})
