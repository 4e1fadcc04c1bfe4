"""9,914 rides of Kaggle's train.csv are the test set, drawn as MLE-bench draws them."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

TEST_ROWS = 9914  # as many as Kaggle's own test set has
INSTRUCTIONS = "GCP-Coupons-Instructions.rtf"


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the rides. The train set is called labels.csv, as on Kaggle."""
    train, test = train_test_split(raw.table("train.csv"), test_size=TEST_ROWS, random_state=0)
    write_csv(train, public / "labels.csv")
    write_csv(test.drop(columns="fare_amount"), public / "test.csv")
    write_csv(test[["key"]].assign(fare_amount=11.35), public / "sample_submission.csv")
    raw.copy(INSTRUCTIONS, public / INSTRUCTIONS)
    write_csv(test, private / "test.csv")
