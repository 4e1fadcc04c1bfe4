"""A tenth of Kaggle's labelled leaves is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

import pandas as pd
from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the leaves; the answers have a column of 0 and 1 for each of the 99 species."""
    leaves = raw.table("train.csv")
    train, test = train_test_split(leaves, test_size=0.1, random_state=0)
    images = [f"images/{leaf}.jpg" for leaf in leaves["id"]]
    raw.copy_bulk(((image, public / image) for image in images), within="images.zip")
    write_csv(train, public / "train.csv")
    write_csv(test.drop(columns="species"), public / "test.csv")
    species = sorted(leaves["species"].unique())
    sample = pd.DataFrame({"id": test["id"], **dict.fromkeys(species, 1 / len(species))})
    write_csv(sample, public / "sample_submission.csv")
    answers = {name: (test["species"] == name).astype(int) for name in species}
    write_csv(pd.DataFrame({"id": test["id"], **answers}), private / "test.csv")
