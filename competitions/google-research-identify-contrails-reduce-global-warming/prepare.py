"""Some of Kaggle's labelled scenes, as many as its validation set has, are the test set."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

BANDS = [f"band_{number:02d}.npy" for number in range(8, 17)]
MASKS = ["human_individual_masks.npy", "human_pixel_masks.npy"]
VALIDATION = "validation_metadata.json"


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the scenes as MLE-bench does; those of the test set lack their masks."""
    with raw.open("train_metadata.json") as labelled, raw.open(VALIDATION) as other:
        scenes, validation = json.load(labelled), json.load(other)
    train, test = train_test_split(scenes, test_size=len(validation), random_state=0)
    for name, part, kinds in (("train", train, BANDS + MASKS), ("test", test, BANDS)):
        records = [scene["record_id"] for scene in part]
        raw.copy_bulk(
            (f"train/{record}/{kind}", public / name / record / kind)
            for record in records
            for kind in kinds
        )
    if not raw.grading_only:
        names = [name for name in raw.names() if name.startswith("validation/")]
        raw.copy_bulk((name, public / name) for name in names)
    raw.copy(VALIDATION, public / VALIDATION)
    (public / "train_metadata.json").write_text(json.dumps(train), encoding="utf-8")
    answers = pd.DataFrame([answer(raw, scene["record_id"]) for scene in test])
    chance = random.Random(0)  # noqa: S311 (MLE-bench's seed)
    guesses = [chance.choice(["1 3 10 5", "-"]) for _ in test]
    write_csv(answers.assign(encoded_pixels=guesses), public / "sample_submission.csv")
    write_csv(answers, private / "answers.csv")


def answer(raw: RawFiles, record: str) -> dict[str, Any]:
    """The runs of a scene's contrails, and its size, which is that of a band."""
    with raw.open(f"train/{record}/human_pixel_masks.npy") as file:
        runs = runs_of(np.lib.format.read_array(file))
    with raw.open(f"train/{record}/band_08.npy") as file:
        height, width, _ = shape_of(file)
    return {"record_id": record, "encoded_pixels": runs, "height": height, "width": width}


def shape_of(file: Any) -> tuple[int, ...]:
    """The shape of an array; its values are not read."""
    is_first = np.lib.format.read_magic(file) == (1, 0)
    read = np.lib.format.read_array_header_1_0 if is_first else np.lib.format.read_array_header_2_0
    return read(file)[0]


def runs_of(mask: npt.NDArray[Any]) -> str:
    """Starts and lengths of the runs of ones, column by column, counted from 1; - for none."""
    is_one = np.concatenate([[False], mask.T.ravel() == 1, [False]])
    starts, ends = np.flatnonzero(is_one[1:] != is_one[:-1]).reshape(-1, 2).T
    runs = np.column_stack([starts + 1, ends - starts]).ravel()
    return " ".join(map(str, runs)) or "-"
