"""A tenth of Kaggle's studies is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

import pandas as pd
from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

LABELS = ["negative", "typical", "indeterminate", "atypical"]  # in the order of the columns
BOX = " 1 0 0 1 1"  # what is asked of a whole study has a box that means nothing


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the studies and their images; the answers have rows for both."""
    studies, images = raw.table("train_study_level.csv"), raw.table("train_image_level.csv")
    drawn = train_test_split(studies, test_size=0.1, random_state=0)
    train, test = (part.sort_values(by="id") for part in drawn)
    own = images["StudyInstanceUID"] + "_study"
    known, asked = (images[own.isin(part["id"])].sort_values(by="id") for part in (train, test))
    side = {
        study.replace("_study", ""): name
        for name, part in (("train", train), ("test", test))
        for study in part["id"]
    }
    files = [name.split("/") for name in raw.names() if name.startswith("train/")]
    raw.copy_bulk(
        ("/".join(file), public.joinpath(side[file[1]], *file[1:]))
        for file in files
        if file[1] in side
    )
    write_csv(train, public / "train_study_level.csv")
    write_csv(known, public / "train_image_level.csv")
    best = test.drop(columns="id").to_numpy().argmax(axis=1)
    ids = [*test["id"], *asked["id"]]
    truth = [*(LABELS[place] + BOX for place in best), *asked["label"]]
    guess = [f"negative{BOX}"] * len(test) + [f"none{BOX}"] * len(asked)
    for values, file in (
        (guess, public / "sample_submission.csv"),
        (truth, private / "test.csv"),
    ):
        write_csv(pd.DataFrame({"id": ids, "PredictionString": values}), file)
