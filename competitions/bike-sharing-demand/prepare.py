"""From one CSV of labelled hours to what agents get and what they are graded against."""

from pathlib import Path

import numpy as np
import pandas as pd

TEST_DAYS = range(15, 20)  # of every month; the labelled hours end with day 19
SEED = 20110101  # of the draw that makes half of the test rows the public part
KEY, TARGET = "datetime", "count"
FEATURES = [
    "season",
    "holiday",
    "workingday",
    "weather",
    "temp",
    "atemp",
    "humidity",
    "windspeed",
]


def prepare(raw: Path, public: Path, private: Path) -> None:
    """Split `raw/train.csv`, Kaggle's 10,886 labelled hours, into `public` and `private`.

    Other columns are left out: `casual` and `registered` add up to the target.
    """
    hours = pd.read_csv(raw / "train.csv", usecols=[KEY, *FEATURES, TARGET])
    hours = hours[[KEY, *FEATURES, TARGET]].sort_values(KEY, ignore_index=True)
    is_test = pd.to_datetime(hours[KEY]).dt.day.isin(TEST_DAYS)
    train, test = hours[~is_test], hours[is_test]

    # RandomState: numpy promises that its stream never changes.
    drawn = np.random.RandomState(SEED).permutation(len(test))
    usage = np.where(drawn < len(test) // 2, "Public", "Private")

    write(train, public / "train.csv.gz")
    write(test.drop(columns=TARGET), public / "test.csv.gz")
    write(test[[KEY]].assign(**{TARGET: 0}), public / "sample_submission.csv.gz")
    write(test[[KEY, TARGET]].assign(Usage=usage), private / "answers.csv.gz")


def write(table: pd.DataFrame, file: Path) -> None:
    """Write a gzipped CSV whose bytes depend on the table alone, not on clock or platform."""
    table.to_csv(
        file,
        index=False,
        lineterminator="\n",
        compression={"method": "gzip", "compresslevel": 9, "mtime": 0},
    )
