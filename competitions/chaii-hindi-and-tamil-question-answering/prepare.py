"""A tenth of Kaggle's train.csv is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the questions; the answers are the texts alone, without their positions."""
    train, test = train_test_split(raw.table("train.csv"), test_size=0.1, random_state=0)
    write_csv(train, public / "train.csv")
    write_csv(test.drop(columns=["answer_start", "answer_text"]), public / "test.csv")
    sample = test[["id"]].assign(PredictionString="dummy text")
    write_csv(sample, public / "sample_submission.csv")
    answers = test[["id", "answer_text"]].rename(columns={"answer_text": "PredictionString"})
    write_csv(answers, private / "test.csv")
