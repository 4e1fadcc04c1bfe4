"""A tenth of Kaggle's labelled signals is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the signals; Kaggle's leaky data of before stay public, as there."""
    train, test = train_test_split(raw.table("train_labels.csv"), test_size=0.1, random_state=0)
    for name, part in (("train", train), ("test", test)):
        signals = [f"{signal[0]}/{signal}.npy" for signal in part["id"]]
        raw.copy_bulk((f"train/{signal}", public / name / signal) for signal in signals)
    leaky = [name for name in raw.names() if name.startswith("old_leaky_data/")]
    raw.copy_bulk((name, public / name) for name in leaky)
    write_csv(train, public / "train_labels.csv")
    write_csv(test.assign(target=0.5), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
