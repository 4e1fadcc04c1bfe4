"""A tenth of Kaggle's labelled patients is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the patients, each with a folder of scans."""
    patients = raw.table("train_labels.csv", dtype={"BraTS21ID": str, "MGMT_value": int})
    train, test = train_test_split(patients, test_size=0.1, random_state=0)
    side = dict.fromkeys(train["BraTS21ID"], "train") | dict.fromkeys(test["BraTS21ID"], "test")
    scans = [name.split("/", 2) for name in raw.names() if name.startswith("train/")]
    raw.copy_bulk(
        (f"train/{patient}/{scan}", public / side[patient] / patient / scan)
        for _, patient, scan in scans
        if patient in side
    )
    write_csv(train, public / "train_labels.csv")
    write_csv(test.assign(MGMT_value=0.5), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
