"""The last of Kaggle's four archives of labelled samples is the test set, as in MLE-bench."""

import random
from pathlib import Path

import pandas as pd

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

TEST = "training4.tar.gz"
COPIED = [
    *(f"training{number}.tar.gz" for number in (1, 2, 3)),
    *(f"validation{number}.tar.gz" for number in (1, 2, 3)),
    "devel01-40.7z",
    "valid_all_files_combined.7z",
    "sample_code_mmrgc.zip",
]
GESTURES = range(1, 21)


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """The archives stay whole. The names of the samples in them are their numbers."""
    files = [Path(name) for name in raw.names(within=TEST)]
    numbers = sorted(file.stem[-4:] for file in files if file.suffix == ".zip" and alone(file))
    samples = raw.table("training.csv", dtype=str)
    is_test = samples["Id"].isin(numbers)
    chance = random.Random(0)  # noqa: S311 (MLE-bench's seed)
    guesses = [" ".join(map(str, chance.sample(GESTURES, 20))) for _ in numbers]
    test = pd.DataFrame({"Id": numbers})
    write_csv(samples[~is_test], public / "training.csv")
    write_csv(test, public / "test.csv")
    write_csv(test.assign(Sequence=guesses), public / "randomPredictions.csv")
    write_csv(samples[is_test], private / "test.csv")
    raw.copy_bulk([(TEST, public / "test.tar.gz"), *((name, public / name) for name in COPIED)])


def alone(file: Path) -> bool:
    """Whether a file is in no folder."""
    return len(file.parts) == 1
