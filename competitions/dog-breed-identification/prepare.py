"""A tenth of Kaggle's labelled images is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

import pandas as pd
from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the images; the answers have a column of 0 and 1 for each of the 120 breeds."""
    dogs = raw.table("labels.csv")
    train, test = train_test_split(dogs, test_size=0.1, random_state=0)
    for name, part in (("train", train), ("test", test)):
        images = [f"{image}.jpg" for image in part["id"]]
        raw.copy_bulk((f"train/{image}", public / name / image) for image in images)
    write_csv(train, public / "labels.csv")
    breeds = sorted(dogs["breed"].unique())
    sample = pd.DataFrame({"id": test["id"], **dict.fromkeys(breeds, 1 / len(breeds))})
    write_csv(sample, public / "sample_submission.csv")
    answers = {breed: (test["breed"] == breed).astype(int) for breed in breeds}
    write_csv(pd.DataFrame({"id": test["id"], **answers}), private / "test.csv")
