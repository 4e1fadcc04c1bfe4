"""A fifth of each of Kaggle's species is the test set, drawn as MLE-bench draws it."""

import json
from pathlib import Path

import pandas as pd

from app.preparation.labelled_images import LabelledImage, split_by_category, write_json
from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the images of each species, and number both sides anew."""
    with raw.open("train_metadata.json") as file:
        metadata = json.load(file)
    train, test = split_by_category(metadata, 0.2, id_name="image_id", always_drawn=True)
    answers = pd.DataFrame({"Id": range(len(test)), "Predicted": [one.category for one in test]})
    write_csv(answers.assign(Predicted=42), public / "sample_submission.csv")
    write_csv(answers, private / "answers.csv")
    if raw.grading_only:
        return
    numbered = number_by_species(train)
    drawn = [
        one.image
        | {"image_id": str(number), "file_name": f"{number // 1000:03d}/test-{number:06d}.jpg"}
        for number, one in enumerate(test)
    ]
    for side, part, images in (
        ("train_images", train, [one.image for one in numbered]),
        ("test_images", test, drawn),
    ):
        raw.copy_bulk(
            (f"train_images/{one.image['file_name']}", public / side / image["file_name"])
            for one, image in zip(part, images, strict=True)
        )
    own = {
        "annotations": [one.annotation for one in numbered],
        "images": [one.image for one in numbered],
    }
    write_json(metadata | own, public / "train_metadata.json")
    write_json(drawn, public / "test_metadata.json")


def number_by_species(images: list[LabelledImage]) -> list[LabelledImage]:
    """The images with names of their species and of their place in it, counted from 1."""
    counts: dict[int, int] = {}
    numbered = []
    for one in images:
        species = one.category
        counts[species] = counts.get(species, 0) + 1
        name = f"{species:05d}__{counts[species]:03d}"
        file = f"{species // 100:03d}/{species % 100:02d}/{name}.jpg"
        numbered.append(
            LabelledImage(
                one.image | {"image_id": name, "file_name": file},
                one.annotation | {"image_id": name},
            )
        )
    return numbered
