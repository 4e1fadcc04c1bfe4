"""100,000 rows of Kaggle's train.csv are the test set, drawn as MLE-bench draws them."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

TEST_ROWS = 100_000


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the rows, and number them anew: train rows from 0, test rows after them."""
    train, test = train_test_split(raw.table("train.csv"), test_size=TEST_ROWS, random_state=0)
    train = train.assign(id=range(len(train)))
    test = test.assign(id=range(len(train), len(train) + len(test)))
    write_csv(train, public / "train.csv")
    write_csv(test.drop(columns="target"), public / "test.csv")
    write_csv(test[["id"]].assign(target=0.5), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
    write_csv(test[["id", "target"]], private / "gold_submission.csv")
