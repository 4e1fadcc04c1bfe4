"""A tenth of Kaggle's spectrograms is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

VOTES = [f"{kind}_vote" for kind in ("seizure", "lpd", "gpd", "lrda", "grda", "other")]


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split whole spectrograms, with the recordings that belong to them."""
    votes = raw.table("train.csv")
    drawn = train_test_split(votes["spectrogram_id"].unique(), test_size=0.1, random_state=0)
    train, test = (votes[votes["spectrogram_id"].isin(part)] for part in drawn)
    for side, part in (("train", train), ("test", test)):
        for kind, column in (("eegs", "eeg_id"), ("spectrograms", "spectrogram_id")):
            files = [f"{one}.parquet" for one in part[column].unique()]
            raw.copy_bulk(
                (f"train_{kind}/{file}", public / f"{side}_{kind}" / file) for file in files
            )
    figures = [name for name in raw.names() if name.startswith("example_figures/")]
    raw.copy_bulk((name, public / name) for name in figures)
    write_csv(train, public / "train.csv")
    write_csv(test[["spectrogram_id", "eeg_id", "patient_id"]], public / "test.csv")
    sample = test[["eeg_id"]].assign(**dict.fromkeys(VOTES, 1 / len(VOTES)))
    write_csv(sample, public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
    shares = test[VOTES].div(test[VOTES].sum(axis=1), axis=0)
    write_csv(test[["eeg_id"]].join(shares), private / "gold_submission.csv")
