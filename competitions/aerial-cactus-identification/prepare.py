"""19 of 100 of Kaggle's labelled images are the test set, drawn as MLE-bench draws them."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the images; each side has them in an archive of its own."""
    train, test = train_test_split(raw.table("train.csv"), test_size=0.19, random_state=0)
    for name, part in (("train", train), ("test", test)):
        images = [(f"train/{image}", image) for image in part["id"]]
        raw.zip_bulk(images, public / f"{name}.zip", within="train.zip")
    write_csv(train, public / "train.csv")
    write_csv(test.assign(has_cactus=0.5), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
