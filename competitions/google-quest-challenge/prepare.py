"""A tenth of Kaggle's train.csv is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

RARE = "question_type_spelling"  # 0 in nearly all rows
FIRST_TARGET = 11  # the columns before it describe the question


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the questions; one row may be swapped, since a constant column has no correlation."""
    train, test = train_test_split(raw.table("train.csv"), test_size=0.1, random_state=0)
    if test[RARE].nunique() == 1:
        train, test = swapped(train, test)
    targets = list(train.columns[FIRST_TARGET:])
    write_csv(train, public / "train.csv")
    write_csv(test.drop(columns=targets), public / "test.csv")
    rising = dict.fromkeys(targets, np.linspace(0, 1, len(test)))
    write_csv(test[["qa_id"]].assign(**rising), public / "sample_submission.csv")
    write_csv(test[["qa_id", *targets]], private / "test.csv")


def swapped(train: pd.DataFrame, test: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Swap the first test row with the first train row in which the rare column is not 0."""
    place = int(np.argmax((train[RARE] != 0).to_numpy()))
    new_train = pd.concat([train.iloc[:place], test.iloc[:1], train.iloc[place + 1 :]])
    return new_train, pd.concat([train.iloc[place : place + 1], test.iloc[1:]])
