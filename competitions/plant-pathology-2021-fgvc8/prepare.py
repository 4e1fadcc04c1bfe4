"""Two tenths of Kaggle's labelled images are the test set, drawn as MLE-bench draws it."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the images."""
    train, test = train_test_split(raw.table("train.csv"), test_size=0.2, random_state=0)
    for name, part in (("train_images", train), ("test_images", test)):
        raw.copy_bulk((f"train_images/{image}", public / name / image) for image in part["image"])
    write_csv(train, public / "train.csv")
    write_csv(test.assign(labels="healthy"), public / "sample_submission.csv")
    write_csv(test, private / "answers.csv")
