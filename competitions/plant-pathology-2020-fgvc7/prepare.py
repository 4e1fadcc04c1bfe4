"""A tenth of Kaggle's labelled images is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

LABELS = ["healthy", "multiple_diseases", "rust", "scab"]


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the images, and number them anew from 0 on each side."""
    train, test = train_test_split(raw.table("train.csv"), test_size=0.1, random_state=0)
    for name, part in (("Train", train), ("Test", test)):
        images = [
            (f"images/{image}.jpg", public / "images" / f"{name}_{number}.jpg")
            for number, image in enumerate(part["image_id"])
        ]
        raw.copy_bulk(images)
        part["image_id"] = [f"{name}_{number}" for number in range(len(part))]
    write_csv(train, public / "train.csv")
    write_csv(test[["image_id"]], public / "test.csv")
    sample = test[["image_id"]].assign(**dict.fromkeys(LABELS, 0.25))
    write_csv(sample, public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
