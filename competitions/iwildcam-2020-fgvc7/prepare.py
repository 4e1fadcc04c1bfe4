"""Some of Kaggle's camera locations are the test set, drawn as MLE-bench draws them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

TRAIN = "iwildcam2020_train_annotations.json"
TEST = "iwildcam2020_test_information.json"
DETECTIONS = "iwildcam2020_megadetector_results.json"
SHARE = 0.22
CATEGORIES = 676


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split whole locations; a row of the answers is an annotation of an image."""
    with raw.open(TRAIN) as labelled, raw.open(TEST) as unlabelled:
        metadata, other = json.load(labelled), json.load(unlabelled)
    annotations, images = pd.DataFrame(metadata["annotations"]), pd.DataFrame(metadata["images"])
    is_test = images["location"].isin(locations_drawn(images["location"]))
    train, test = images[~is_test], images[is_test]
    is_known = annotations["image_id"].isin(train["id"])
    is_asked = annotations["image_id"].isin(test["id"])
    names = {"image_id": "Id", "category_id": "Category"}
    answers = annotations[is_asked][list(names)].rename(columns=names)
    guesses = np.random.RandomState(0).randint(0, CATEGORIES, size=len(answers))
    write_csv(answers.assign(Category=guesses), public / "sample_submission.csv")
    write_csv(answers, private / "answers.csv")
    if raw.grading_only:
        return
    known = {"annotations": annotations[is_known], "images": train}
    write_tables(known, metadata["categories"], metadata["info"], public / TRAIN)
    write_tables({"images": test}, other["categories"], other["info"], public / TEST)
    raw.copy(DETECTIONS, public / DETECTIONS)
    for name, part in (("train", train), ("test", test)):
        files = [f"{image}.jpg" for image in part["id"].unique()]
        raw.copy_bulk((f"train/{file}", public / name / file) for file in files)


def locations_drawn(locations: pd.Series) -> list[Any]:
    """The locations of the test set: drawn, then as many that their images are few enough.

    The share is that of test images among all images and the test images once more, as MLE-bench
    reckons it.
    """
    stay, drawn = map(list, train_test_split(locations.unique(), test_size=SHARE, random_state=0))

    def share() -> float:
        count = int(locations.isin(drawn).sum())
        return count / (len(locations) + count)

    while share() < SHARE:
        drawn.append(stay.pop())
    while share() > SHARE:
        stay.append(drawn.pop())
    return drawn


def write_tables(
    tables: dict[str, pd.DataFrame], categories: list[Any], about: Any, file: Path
) -> None:
    """Write tables as lists of records: a cell that a record lacked is NaN, as in MLE-bench."""
    records = {name: table.to_dict(orient="records") for name, table in tables.items()}
    records["categories"] = pd.DataFrame(categories).to_dict(orient="records")
    with file.open("x", encoding="utf-8") as stream:
        json.dump(records | {"info": about}, stream)
