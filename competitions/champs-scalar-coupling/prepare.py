"""A tenth of Kaggle's labelled molecules is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

import pandas as pd
from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

TABLES = [
    "structures.csv",
    "dipole_moments.csv",
    "magnetic_shielding_tensors.csv",
    "mulliken_charges.csv",
    "potential_energy.csv",
    "scalar_coupling_contributions.csv",
]


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split whole molecules; all that is known of them is given for the train set only."""
    groups = [rows for _, rows in raw.table("train.csv").groupby("molecule_name")]
    train, test = map(pd.concat, train_test_split(groups, test_size=0.1, random_state=0))
    molecules = train["molecule_name"].unique()
    raw.copy_bulk(
        (f"structures/{one}.xyz", public / "structures" / f"{one}.xyz") for one in molecules
    )
    for name in TABLES:
        table = raw.table(name)
        write_csv(table[table["molecule_name"].isin(molecules)], public / name)
    write_csv(train, public / "train.csv")
    write_csv(test.drop(columns="scalar_coupling_constant"), public / "test.csv")
    sample = test[["id"]].assign(scalar_coupling_constant=0)
    write_csv(sample, public / "sample_submission.csv")
    write_csv(test, private / "answers.csv")
