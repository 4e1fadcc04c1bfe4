"""12 of 100 of each of Kaggle's species are the test set, drawn as MLE-bench draws them."""

import json
from pathlib import Path
from typing import IO

import pandas as pd

from app.preparation import tar_files
from app.preparation.labelled_images import LabelledImage, split_by_category, write_json
from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

IMAGES = "train_val2019.tar.gz"
GUESS = 654  # the first number that MLE-bench draws, which it draws for each row


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the images of each species; both sides' archives are plain, as MLE-bench's."""
    with raw.open("train2019.json") as file:
        metadata = json.load(file)
    train, test = split_by_category(metadata, 0.12)
    answers = pd.DataFrame(
        {
            "id": [one.image["id"] for one in test],
            "predicted": [one.category for one in test],
        }
    )
    write_csv(answers.assign(predicted=GUESS), public / "kaggle_sample_submission.csv")
    write_csv(answers, private / "answers.csv")
    if raw.grading_only:
        return
    own = {
        "annotations": [one.annotation for one in train],
        "images": [one.image for one in train],
    }
    write_json(metadata | own, public / "train2019.json")
    images = [one.image | {"file_name": f"test2019/{last_part(one)}"} for one in test]
    shown = {"images": images, "info": metadata["info"], "licenses": metadata["licenses"]}
    write_json(shown, public / "test2019.json")
    raw.copy("val2019.json", public / "val2019.json")
    copy_images(raw, public, train, test)


def copy_images(
    raw: RawFiles, public: Path, train: list[LabelledImage], test: list[LabelledImage]
) -> None:
    """Read the archive once, and put each image into that of its side."""
    named = {one.image["file_name"]: one.image["file_name"].partition("/")[2] for one in train}
    drawn = {one.image["file_name"]: last_part(one) for one in test}
    with (
        tar_files.written(public / IMAGES) as to_train,
        tar_files.written(public / "test2019.tar.gz") as to_test,
    ):

        def place(name: str, content: IO[bytes], size: int) -> None:
            if name in named:
                to_train(named[name], content, size)
            else:
                to_test(drawn[name], content, size)

        raw.read_members(IMAGES, named | drawn, place)


def last_part(one: LabelledImage) -> str:
    """The name of an image's file without its folders."""
    return str(one.image["file_name"]).rpartition("/")[2]
