"""A tenth of the breaths of Kaggle's train.csv is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

DIGITS = "%.10g"
# Narrow types: the table has six million rows.
TYPES = {
    "id": "int32",
    "breath_id": "int32",
    "R": "int8",
    "C": "int8",
    "time_step": "float64",
    "u_in": "float64",
    "u_out": "int8",
    "pressure": "float64",
}


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split whole breaths, and number the time steps anew from 1 on each side."""
    steps = raw.table("train.csv", dtype=TYPES)
    breaths = [rows.index.to_numpy() for _, rows in steps.groupby("breath_id")]
    drawn = train_test_split(breaths, test_size=0.1, random_state=0)
    train, test = (steps.loc[np.concatenate(part)] for part in drawn)
    train, test = (part.assign(id=range(1, len(part) + 1)) for part in (train, test))
    write_csv(train, public / "train.csv", float_format=DIGITS)
    write_csv(test.drop(columns="pressure"), public / "test.csv", float_format=DIGITS)
    write_csv(test[["id"]].assign(pressure=0), public / "sample_submission.csv")
    write_csv(test, private / "test.csv", float_format=DIGITS)
