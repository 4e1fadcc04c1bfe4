"""Kaggle's own test set, whose labels it published after the competition."""

from pathlib import Path

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

LABELS = ["toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate"]


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Take Kaggle's split; rows labelled -1, which Kaggle did not score, stay as in MLE-bench."""
    for name in ("train.csv", "test.csv"):
        write_csv(raw.table(name), public / name)
    sample = raw.table("sample_submission.csv").assign(**dict.fromkeys(LABELS, 0.5))
    write_csv(sample, public / "sample_submission.csv")
    write_csv(raw.table("test_labels.csv"), private / "test.csv")
