"""14 of 100 of Kaggle's labelled images are the test set, drawn as MLE-bench draws them."""

from pathlib import Path

import pandas as pd
from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the images, whose labels are the folders in which they lie."""
    places = [name.split("/") for name in raw.names()]
    labelled = [place[1:] for place in places if place[0] == "train" and place[-1].endswith(".png")]
    images = pd.DataFrame(sorted(labelled), columns=["species", "file"])[["file", "species"]]
    train, test = train_test_split(images, test_size=0.14, random_state=0)
    raw.copy_bulk(
        (f"train/{row.species}/{row.file}", public / "train" / row.species / row.file)
        for row in train.itertuples()
    )
    raw.copy_bulk(
        (f"train/{row.species}/{row.file}", public / "test" / row.file) for row in test.itertuples()
    )
    write_csv(test.assign(species="Sugar beet"), public / "sample_submission.csv")
    write_csv(test, private / "answers.csv")
