"""A tenth of Kaggle's labelled images is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the images."""
    train, test = train_test_split(raw.table("train.csv"), test_size=0.1, random_state=0)
    for name, part in (("train_images", train), ("test_images", test)):
        images = [f"{image}.png" for image in part["id_code"]]
        raw.copy_bulk((f"train_images/{image}", public / name / image) for image in images)
    write_csv(train, public / "train.csv")
    write_csv(test.drop(columns="diagnosis"), public / "test.csv")
    write_csv(test.assign(diagnosis=0), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
