"""A tenth of Kaggle's labelled images is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

ID = "StudyInstanceUID"
# Of Kaggle's eleven labels the last two are not asked for, as in MLE-bench.
LABELS = [
    *(f"ETT - {kind}" for kind in ("Abnormal", "Borderline", "Normal")),
    *(f"NGT - {kind}" for kind in ("Abnormal", "Borderline", "Incompletely Imaged", "Normal")),
    *(f"CVC - {kind}" for kind in ("Abnormal", "Borderline")),
]


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the images; annotations are given for the train set only."""
    train, test = train_test_split(raw.table("train.csv"), test_size=0.1, random_state=0)
    for name, part in (("train", train), ("test", test)):
        images = [f"{image}.jpg" for image in part[ID]]
        raw.copy_bulk((f"train/{image}", public / name / image) for image in images)
    write_csv(train, public / "train.csv")
    annotations = raw.table("train_annotations.csv")
    write_csv(annotations[annotations[ID].isin(train[ID])], public / "train_annotations.csv")
    sample = test[[ID]].assign(**dict.fromkeys(LABELS, 0))
    write_csv(sample, public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
