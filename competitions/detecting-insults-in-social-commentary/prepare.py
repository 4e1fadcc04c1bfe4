"""Kaggle's own test set, which it published with labels after the competition."""

from pathlib import Path

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Take Kaggle's split; the set of the verification stage is left out, as in MLE-bench."""
    raw.copy("train.csv", public / "train.csv")
    raw.copy("test_with_solutions.csv", private / "test.csv")
    comments = raw.table("test_with_solutions.csv")[["Insult", "Date", "Comment"]]
    write_csv(comments.drop(columns="Insult"), public / "test.csv")
    write_csv(comments, private / "gold_submission.csv")
    write_csv(comments.assign(Insult=0), public / "sample_submission_null.csv")
