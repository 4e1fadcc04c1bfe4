"""Two tenths of Kaggle's labelled images are the test set, drawn as MLE-bench draws it."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the images, which lie in folders of the first three letters of their names."""
    train, test = train_test_split(raw.table("train_labels.csv"), test_size=0.2, random_state=0)
    for name, part in (("train", train), ("test", test)):
        images = [f"{image[0]}/{image[1]}/{image[2]}/{image}.png" for image in part["image_id"]]
        raw.copy_bulk((f"train/{image}", public / name / image) for image in images)
    raw.copy("extra_approved_InChIs.csv", public / "extra_approved_InChIs.csv")
    write_csv(train, public / "train_labels.csv")
    write_csv(test.assign(InChI="InChI=1S/H2O/h1H2"), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
