"""A tenth of the days of Kaggle's drives is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

import pandas as pd
from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

TRUTH = "ground_truth.csv"
COLUMNS = ["tripId", "UnixTimeMillis", "LatitudeDegrees", "LongitudeDegrees"]
# The place of every row of Kaggle's own sample submission.
LATITUDE, LONGITUDE = 37.904611315634504, -86.48107806249548


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split whole days; the test drives lack their ground truth."""
    files = sorted(name.split("/") for name in raw.names() if name.startswith("train/"))
    dates = sorted({date_of(file[1]) for file in files})
    test_dates = train_test_split(dates, test_size=0.1, random_state=0)[1]
    truths = []
    for file in files:
        side = "test" if date_of(file[1]) in test_dates else "train"
        if side == "test" and file[-1] == TRUTH:
            truths.append(file)
        else:
            raw.copy_bulk([("/".join(file), public.joinpath(side, *file[1:]))])
    metadata = [name for name in raw.names() if name.startswith("metadata/")]
    raw.copy_bulk((name, public / name) for name in metadata)
    answers = pd.concat(
        raw.table("/".join(file)).assign(tripId=f"{file[-3]}-{file[-2]}")[COLUMNS]
        for file in truths
    )
    sample = answers.assign(LatitudeDegrees=LATITUDE, LongitudeDegrees=LONGITUDE)
    write_csv(sample, public / "sample_submission.csv")
    write_csv(answers, private / "test.csv")


def date_of(drive: str) -> str:
    """The day of a drive, in two digits each; the names of some drives leave out zeros."""
    year, month, day = drive.split("-")[:3]
    return f"{year}-{month.zfill(2)}-{day.zfill(2)}"
