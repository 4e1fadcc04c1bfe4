"""A tenth of Kaggle's labelled images is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the images. The sample submission has scores drawn at random."""
    train, test = train_test_split(raw.table("train.csv"), test_size=0.1, random_state=0)
    for name, part in (("train", train), ("test", test)):
        images = [f"{image}.jpg" for image in part["Id"]]
        raw.copy_bulk((f"train/{image}", public / name / image) for image in images)
    write_csv(train, public / "train.csv")
    write_csv(test.drop(columns="Pawpularity"), public / "test.csv")
    scores = np.random.default_rng(0).uniform(1, 100, len(test)).round(2)
    write_csv(test[["Id"]].assign(Pawpularity=scores), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
