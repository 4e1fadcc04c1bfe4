"""Split the images of a file of annotations category by category, as MLE-bench splits plants."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

Record = dict[str, Any]
ENOUGH = 5  # images of a category from which some are drawn at random


@dataclass(frozen=True, slots=True)
class LabelledImage:
    """An image's record and that of its annotation, as the file has them."""

    image: Record
    annotation: Record

    @property
    def category(self) -> int:
        """The number of its category."""
        return int(self.annotation["category_id"])


def split_by_category(
    metadata: Record, share: float, *, id_name: str = "id", always_drawn: bool = False
) -> tuple[list[LabelledImage], list[LabelledImage]]:
    """The images for training, category after category, and those of the test set, shuffled.

    `share` of each category is drawn. Of fewer than five images the last one is taken, and a single
    image stays. With `always_drawn` small categories are treated like others.

    Raises:
        ValueError: images and annotations are not in the same order, or a category cannot be split.
    """
    categories: dict[int, list[LabelledImage]] = {}
    for annotation, image in zip(metadata["annotations"], metadata["images"], strict=True):
        if annotation["image_id"] != image[id_name]:
            raise ValueError(f"the image {image[id_name]} and its annotation are not side by side")
        one = LabelledImage(image, annotation)
        categories.setdefault(one.category, []).append(one)
    train: list[LabelledImage] = []
    test: list[LabelledImage] = []
    for own in categories.values():
        if always_drawn or len(own) >= ENOUGH:
            stay, drawn = train_test_split(own, test_size=share, random_state=0)
        else:
            stay, drawn = (own[:-1], own[-1:]) if len(own) > 1 else (own, [])
        train += stay
        test += drawn
    random.Random(0).shuffle(test)  # noqa: S311 (a split that can be drawn again)
    return train, test


def prepare_a_fifth(
    raw: RawFiles, public: Path, private: Path, *, train: str, test: str, encoding: str
) -> None:
    """Make a fifth of each category's images the test set, under new numbers.

    The images of the folder `train` are described by its metadata.json, in this encoding; those of
    the test set go to the folder `test`.
    """
    with raw.open(f"{train}/metadata.json") as file:
        metadata = json.loads(file.read().decode(encoding))
    stay, drawn = split_by_category(metadata, 0.2)
    names = [f"images/{number // 1000:03d}/{number}.jpg" for number in range(len(drawn))]
    files = [one.image["file_name"] for one in stay]
    raw.copy_bulk((f"{train}/{file}", public / train / file) for file in files)
    raw.copy_bulk(
        (f"{train}/{one.image['file_name']}", public / test / name)
        for one, name in zip(drawn, names, strict=True)
    )
    answers = pd.DataFrame({"Id": range(len(drawn)), "Predicted": [one.category for one in drawn]})
    write_csv(answers.assign(Predicted=0), public / "sample_submission.csv")
    write_csv(answers, private / "answers.csv")
    if raw.grading_only:
        return
    own = {"annotations": [one.annotation for one in stay], "images": [one.image for one in stay]}
    write_json(metadata | own, public / train / "metadata.json")
    images = [
        one.image | {"id": str(number), "file_name": name}
        for number, (one, name) in enumerate(zip(drawn, names, strict=True))
    ]
    shown = {"images": images, "info": metadata["info"], "licenses": metadata["licenses"]}
    write_json(shown, public / test / "metadata.json")


def write_json(content: object, file: Path) -> None:
    """Write JSON with sorted keys and four blanks for each level."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("x", encoding="utf-8") as stream:
        json.dump(content, stream, indent=4, sort_keys=True)
