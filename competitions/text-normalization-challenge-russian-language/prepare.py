"""A tenth of the sentences of Kaggle's ru_train.csv is the test set, drawn as MLE-bench does."""

import csv
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv, write_zipped_csv
from app.preparation.raw_files import RawFiles

QUOTED: dict[str, Any] = {"quoting": csv.QUOTE_NONNUMERIC}


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split whole sentences, and number them anew from 0 on each side."""
    tokens = raw.table("ru_train.csv")
    drawn = train_test_split(tokens["sentence_id"].unique(), test_size=0.1, random_state=0)
    train, test = (renumbered(tokens[tokens["sentence_id"].isin(part)]) for part in drawn)
    write_zipped_csv(train, public / "ru_train.csv.zip", "ru_train.csv", **QUOTED)
    unlabelled = test.drop(columns=["after", "class"])
    write_zipped_csv(unlabelled, public / "ru_test_2.csv.zip", "ru_test_2.csv", **QUOTED)

    ids = test["sentence_id"].astype(str) + "_" + test["token_id"].astype(str)
    sample = pd.DataFrame({"id": ids, "after": test["before"]})
    name = "ru_sample_submission_2.csv"
    write_zipped_csv(sample, public / f"{name}.zip", name, **QUOTED)
    write_csv(sample, private / "sample_submission.csv", **QUOTED)
    answers = pd.DataFrame({"id": ids, "after": test["after"]})
    write_csv(answers, private / "answers.csv", **QUOTED)


def renumbered(tokens: pd.DataFrame) -> pd.DataFrame:
    """The tokens with sentences numbered from 0, in the order in which they appear."""
    return tokens.assign(sentence_id=pd.factorize(tokens["sentence_id"])[0])
