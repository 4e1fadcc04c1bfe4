"""A tenth of Kaggle's labelled images is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

import pandas as pd
from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

NO_FINDING = 14
BOX = ["x_min", "y_min", "x_max", "y_max"]


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the images. Of several boxes of a finding the first one is the answer."""
    rows = raw.table("train.csv")
    drawn = train_test_split(list(rows["image_id"].unique()), test_size=0.1, random_state=0)
    for name, images in zip(("train", "test"), drawn, strict=True):
        raw.copy_bulk(
            (f"train/{image}.dicom", public / name / f"{image}.dicom") for image in images
        )
    train, test = (rows[rows["image_id"].isin(images)] for images in drawn)
    answers = test.groupby(["image_id", "class_id"]).first().reset_index()
    answers[BOX] = answers[BOX].fillna(0)
    answers.loc[answers["class_id"] == NO_FINDING, ["x_max", "y_max"]] = 1.0
    sample = pd.DataFrame({"image_id": drawn[1], "PredictionString": "14 1 0 0 1 1"})
    write_csv(train, public / "train.csv")
    write_csv(sample, public / "sample_submission.csv")
    write_csv(answers, private / "answers.csv")
    boxes = zip(answers["class_id"], *(answers[side] for side in BOX), strict=True)
    texts = [f"{kind} 1.0 " + " ".join(map(str, sides)) for kind, *sides in boxes]
    best = answers[["image_id"]].assign(PredictionString=texts)
    best = best.groupby("image_id")["PredictionString"].agg(" ".join).reset_index()
    write_csv(best, private / "gold_submission.csv")
