"""A tenth of Kaggle's patients is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

SHOWN = [
    "site_id",
    "patient_id",
    "image_id",
    "laterality",
    "view",
    "age",
    "implant",
    "machine_id",
]


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split whole patients. A breast is one row of the answers: that of its first image."""
    images = raw.table("train.csv")
    drawn = train_test_split(images["patient_id"].unique(), test_size=0.1, random_state=42)
    train, test = (images[images["patient_id"].isin(part)] for part in drawn)
    for name, part in (("train_images", train), ("test_images", test)):
        scans = zip(part["patient_id"], part["image_id"], strict=True)
        raw.copy_bulk(
            (f"train_images/{patient}/{image}.dcm", public / name / str(patient) / f"{image}.dcm")
            for patient, image in scans
        )
    test = test.assign(prediction_id=test["patient_id"].astype(str) + "_" + test["laterality"])
    write_csv(train, public / "train.csv")
    write_csv(test[[*SHOWN, "prediction_id"]], public / "test.csv")
    answers = test[["prediction_id", "cancer"]].groupby("prediction_id").first().reset_index()
    sample = answers.assign(cancer=train["cancer"].mean())
    write_csv(sample, public / "sample_submission.csv")
    write_csv(answers, private / "answers.csv")
