"""A quarter of Kaggle's labelled images is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the images; train images lie in folders of their labels."""
    train, test = train_test_split(raw.table("train.csv"), train_size=0.75, random_state=0)
    for part, target in ((train, "train_images/{}/{}"), (test, "test_images/{1}")):
        images = list(zip(part["label"], part["image_id"], strict=True))
        raw.copy_bulk(
            (f"train_images/{label}/{image}", public / target.format(label, image))
            for label, image in images
        )
    write_csv(train, public / "train.csv")
    write_csv(test[["image_id"]].assign(label=""), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
