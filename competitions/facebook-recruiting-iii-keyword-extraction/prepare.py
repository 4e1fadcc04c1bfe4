"""A tenth of Kaggle's Train.csv is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the questions. The sample submission has title and body too, as in MLE-bench."""
    questions = raw.table("Train.csv", within="Train.zip", dtype={"Id": str, "Tags": str})
    train, test = train_test_split(questions, test_size=0.1, random_state=0)
    write_csv(train, public / "train.csv")
    unlabelled = test.drop(columns="Tags")
    write_csv(unlabelled, public / "test.csv")
    sample = unlabelled.assign(Tags="javascript c# python php java")
    write_csv(sample, public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
