"""A part of Kaggle's labelled frames is the test set, drawn as MLE-bench draws it."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

FOLDER = "timit_11/timit_11"


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the frames so that the test set's share is that of Kaggle's own."""
    frames, labels, old_test = (array(raw, name) for name in ("train", "train_label", "test"))
    share = len(old_test) / (len(frames) + len(old_test))
    train, test = train_test_split(range(len(frames)), test_size=share, random_state=0)
    (public / FOLDER).mkdir(parents=True)
    np.save(public / FOLDER / "train_11.npy", frames[train])
    np.save(public / FOLDER / "train_label_11.npy", labels[train])
    np.save(public / FOLDER / "test_11.npy", frames[test])
    answers = pd.DataFrame({"Id": range(len(test)), "ClassId": labels[test]})
    write_csv(answers.assign(ClassId=0), public / "sampleSubmission.csv")
    write_csv(answers, private / "answers.csv")


def array(raw: RawFiles, name: str) -> np.ndarray[Any, Any]:
    """An array of Kaggle's; the frames are 2 GB."""
    with raw.open(f"{FOLDER}/{name}_11.npy") as file:
        return np.asarray(np.load(file))
