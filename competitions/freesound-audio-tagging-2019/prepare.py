"""Kaggle's own test set, with the labels that its hosts published after the competition."""

from pathlib import Path

import pandas as pd

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

SAMPLE = "sample_submission.csv"
LABELS = "FSDKaggle2019.meta"
ADDRESS = "https://zenodo.org/records/3612637/files/FSDKaggle2019.meta.zip"


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Nothing is split. Each private clip has a 1 for each of its labels."""
    files = [name for name in raw.names() if LABELS not in name.partition("/")[0]]
    raw.copy_bulk((name, public / name) for name in files if name != SAMPLE)
    raw.copy(SAMPLE, public / SAMPLE)
    classes = list(raw.table(SAMPLE).columns[1:])
    clips = published(raw)
    clips = clips[clips["usage"] == "Private"]
    tags = [set(labels.split(",")) for labels in clips["labels"]]
    columns = {name: [int(name in own) for own in tags] for name in classes}
    answers = pd.DataFrame({"fname": clips["fname"].to_numpy(), **columns})
    if sorted(answers["fname"]) != sorted(raw.table(SAMPLE)["fname"]):
        raise ValueError(f"the private clips of {LABELS}.zip are not those of {SAMPLE}")
    write_csv(answers, private / "test.csv")


def published(raw: RawFiles) -> pd.DataFrame:
    """The labels: among Kaggle's files, or beside Kaggle's archive."""
    table, archive = f"{LABELS}/test_post_competition.csv", f"{LABELS}.zip"
    if archive in raw.names():
        return raw.table(table, within=archive)
    beside = raw.root.parent / archive
    if not beside.is_file():
        raise FileNotFoundError(
            f"The labels of the test set are not from Kaggle: download {ADDRESS} and put it among "
            f"Kaggle's files, or beside {raw.root.name}."
        )
    with RawFiles(beside) as labels:
        return labels.table(table)
