"""A tenth of Kaggle's train.csv is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

WINNERS = ["winner_model_a", "winner_model_b", "winner_tie"]


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the conversations; which models spoke is not in the test set."""
    train, test = train_test_split(raw.table("train.csv"), test_size=0.1, random_state=0)
    write_csv(train, public / "train.csv")
    write_csv(test[["id", "prompt", "response_a", "response_b"]], public / "test.csv")
    sample = test[["id"]].assign(**dict.fromkeys(WINNERS, 0.3333333333333333))
    write_csv(sample, public / "sample_submission.csv")
    write_csv(test, private / "answers.csv")
