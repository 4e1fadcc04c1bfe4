"""A tenth of Kaggle's labelled images is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the pages; each side has its images in an archive of its own."""
    train, test = train_test_split(raw.table("train.csv"), test_size=0.1, random_state=0)
    for name, part in (("train", train), ("test", test)):
        pages = [(f"{page}.jpg", f"{page}.jpg") for page in part["image_id"]]
        raw.zip_bulk(pages, public / f"{name}_images.zip", within="train_images.zip")
    raw.copy("unicode_translation.csv", public / "unicode_translation.csv")
    write_csv(train, public / "train.csv")
    write_csv(test.assign(labels="U+003F 1 1 U+FF2F 2 2"), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
