"""A tenth of Kaggle's patients is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

import pandas as pd
from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split whole patients; every week from the first to the last of the test set is asked for."""
    patients = [rows for _, rows in raw.table("train.csv").groupby("Patient")]
    train, test = map(pd.concat, train_test_split(patients, test_size=0.1, random_state=0))
    side = dict.fromkeys(train["Patient"], "train") | dict.fromkeys(test["Patient"], "test")
    scans = [name.split("/") for name in raw.names() if name.startswith("train/")]
    raw.copy_bulk(
        ("/".join(scan), public.joinpath(side[scan[1]], *scan[1:]))
        for scan in scans
        if scan[1] in side
    )
    first = test.sort_values(by="Weeks").groupby("Patient").first().reset_index()
    weeks = range(test["Weeks"].min(), test["Weeks"].max() + 1)
    asked = pd.DataFrame(
        [(patient, week) for patient in test["Patient"].unique() for week in weeks],
        columns=["Patient", "Weeks"],
    )
    answers = asked.merge(test, on=["Patient", "Weeks"], how="left")
    answers["Patient_Week"] = answers["Patient"] + "_" + answers["Weeks"].astype(str)
    answers["Confidence"] = 100
    write_csv(train, public / "train.csv")
    write_csv(first, public / "test.csv")
    sample = answers[["Patient_Week"]].assign(FVC=2000, Confidence=100)
    write_csv(sample, public / "sample_submission.csv")
    write_csv(answers, private / "test.csv")
