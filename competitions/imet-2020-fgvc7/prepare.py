"""15 of 100 of Kaggle's labelled images are the test set, drawn as MLE-bench draws them."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the images."""
    train, test = train_test_split(raw.table("train.csv"), test_size=0.15, random_state=0)
    for name, part in (("train", train), ("test", test)):
        images = [f"{image}.png" for image in part["id"]]
        raw.copy_bulk((f"train/{image}", public / name / image) for image in images)
    raw.copy("labels.csv", public / "labels.csv")
    write_csv(train, public / "train.csv")
    write_csv(test.assign(attribute_ids="0 1 2"), public / "sample_submission.csv")
    write_csv(test, private / "answers.csv")
