"""A tenth of Kaggle's labelled recordings is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the recordings, each a table of its own."""
    train, test = train_test_split(raw.table("train.csv"), test_size=0.1, random_state=0)
    for name, part in (("train", train), ("test", test)):
        recordings = [f"{segment}.csv" for segment in part["segment_id"]]
        raw.copy_bulk((f"train/{one}", public / name / one) for one in recordings)
    write_csv(train, public / "train.csv")
    write_csv(test.assign(time_to_eruption=0), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
