"""Kaggle's own test set, which it published with labels after the competition."""

from pathlib import Path

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Take Kaggle's split; the public test set has the comments alone."""
    raw.copy("train.csv", public / "train.csv")
    raw.copy("test_private_expanded.csv", private / "test.csv")
    test = raw.table("test_private_expanded.csv")
    write_csv(test[["id", "comment_text"]], public / "test.csv")
    write_csv(test[["id"]].assign(prediction=0.0), public / "sample_submission.csv")
