"""A tenth of Kaggle's camera locations is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

NAMES = {"id": "Id", "category_id": "Category"}


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split whole locations; each side has its images in an archive of its own."""
    images = raw.table("train.csv")
    drawn = train_test_split(images["location"].unique(), test_size=0.1, random_state=8)[1]
    is_test = images["location"].isin(drawn)
    train, test = images[~is_test], images[is_test]
    for name, part in (("train_images", train), ("test_images", test)):
        files = [f"{image}.jpg" for image in part["id"].unique()]
        raw.zip_bulk(
            ((file, file) for file in files), public / f"{name}.zip", within="train_images.zip"
        )
    answers = test[list(NAMES)].rename(columns=NAMES)
    # MLE-bench wrote its index too, as a first column without a name.
    sample = answers.assign(Category=0).reset_index(names="")
    write_csv(train, public / "train.csv")
    write_csv(test.drop(columns="category_id"), public / "test.csv")
    write_csv(sample, public / "sample_submission.csv")
    write_csv(answers, private / "answers.csv")
    write_csv(test, private / "test.csv")
