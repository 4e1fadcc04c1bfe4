"""A tenth of Kaggle's train.csv is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

# The probabilities of Kaggle's own sample submission: the authors' shares of the sentences.
SHARES = {"EAP": 0.403493538995863, "HPL": 0.287808366106543, "MWS": 0.308698094897594}


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the sentences; the answers have a column of 0 and 1 for each author."""
    sentences = raw.table("train.csv", within="train.zip")
    train, test = train_test_split(sentences, test_size=0.1, random_state=0)
    write_csv(train, public / "train.csv")
    write_csv(test.drop(columns="author"), public / "test.csv")
    write_csv(test[["id"]].assign(**SHARES), public / "sample_submission.csv")
    authors = {author: (test["author"] == author).astype(int) for author in SHARES}
    write_csv(test[["id"]].assign(**authors), private / "test.csv")
