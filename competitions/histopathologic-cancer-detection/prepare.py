"""A part of Kaggle's labelled images is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the images so that the test set's share is Kaggle's own; rows keep their order."""
    labels = raw.table("train_labels.csv")
    old_test = sum(name.startswith("test/") and name.endswith(".tif") for name in raw.names())
    share = old_test / (len(labels) + old_test)
    drawn = train_test_split(labels["id"], test_size=share, random_state=0)
    train, test = (labels[labels["id"].isin(part)] for part in drawn)
    for name, part in (("train", train), ("test", test)):
        images = [f"{image}.tif" for image in part["id"]]
        raw.copy_bulk((f"train/{image}", public / name / image) for image in images)
    write_csv(train, public / "train_labels.csv")
    write_csv(test.assign(label=0), public / "sample_submission.csv")
    write_csv(test, private / "answers.csv")
