"""Kaggle's labelled images, divided so that most whales are on both sides, as MLE-bench does."""

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

SIDES = ["train", "test"]


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Two images of each whale go to one side each, and a tenth of the others to the test set."""
    images = raw.table("train.csv")
    is_test = pd.Series(False, index=images.index)
    others = []
    chance = np.random.default_rng(0)
    for whale in images["Id"].unique():
        own = images[images["Id"] == whale]
        if len(own) == 1:
            is_test[own.index] = chance.choice(SIDES, replace=False, p=[0.9, 0.1]) == "test"
            continue
        chosen = own.sample(2, random_state=0).index
        is_test[chosen[1]] = True
        others += [place for place in own.index if place not in chosen]
    rest = images.loc[sorted(others)]
    is_test[train_test_split(rest, test_size=0.1, random_state=0)[1].index] = True
    train, test = images[~is_test], images[is_test]
    test = test.assign(Id=test["Id"].where(test["Id"].isin(train["Id"]), "new_whale"))
    for name, part in (("train", train), ("test", test)):
        raw.copy_bulk((f"train/{image}", public / name / image) for image in part["Image"])
    write_csv(train, public / "train.csv")
    sample = test.assign(Id="new_whale w_1287fbc w_98baff9 w_7554f44 w_1eafe46")
    write_csv(sample, public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
