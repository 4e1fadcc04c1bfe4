"""A tenth of Kaggle's studies is the train set and the rest the test set, as in MLE-bench."""

import random
from pathlib import Path

import pandas as pd

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

STUDY = "StudyInstanceUID"
SHARE = 0.1  # of the train set


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Draw studies with boxes and masks for the train set, and then others."""
    studies, boxes = raw.table("train.csv"), raw.table("train_bounding_boxes.csv")
    files = [name.split("/") for name in raw.names()]
    masked = [file[1] for file in files if file[0] == "segmentations" and len(file) == 2]
    masked = sorted(name.removesuffix(".nii") for name in masked if name.endswith(".nii"))
    with_boxes, with_masks, known = drawn(studies[STUDY], boxes[STUDY], masked)
    is_train = studies[STUDY].isin(known)
    train = studies[is_train]
    answers = studies[~is_train].melt(
        id_vars=STUDY, var_name="prediction_type", value_name="fractured"
    )
    answers["row_id"] = answers[STUDY] + "_" + answers["prediction_type"]
    masks = [f"segmentations/{study}.nii" for study in with_masks]
    raw.copy_bulk((mask, public / mask) for mask in masks)
    side = dict.fromkeys(train[STUDY], "train_images") | dict.fromkeys(
        answers[STUDY].unique(), "test_images"
    )
    raw.copy_bulk(
        ("/".join(file), public.joinpath(side[file[1]], *file[1:]))
        for file in files
        if file[0] == "train_images" and file[1] in side
    )
    write_csv(train, public / "train.csv")
    write_csv(boxes[boxes[STUDY].isin(with_boxes)], public / "train_bounding_boxes.csv")
    write_csv(answers.drop(columns="fractured"), public / "test.csv")
    sample = answers[["row_id"]].assign(fractured=0.5)
    write_csv(sample, public / "sample_submission.csv")
    write_csv(answers, private / "answers.csv")


def drawn(
    studies: pd.Series, boxed: pd.Series, masked: list[str]
) -> tuple[list[str], list[str], list[str]]:
    """The studies drawn for their boxes, for their masks, and all of the train set.

    Of studies with boxes, with masks and with both a tenth each is drawn.
    """
    chance = random.Random(0)  # noqa: S311 (MLE-bench's seed)
    known = sorted(boxed.unique())
    both = [study for study in known if study in set(masked)]
    counts = [round(len(part) * SHARE) for part in (both, masked, known, studies)]
    with_both = chance.sample(both, counts[0])
    other_masks = [study for study in masked if study not in set(both)]
    masks_only = chance.sample(other_masks, counts[1] - counts[0])
    other_boxes = [study for study in known if study not in set(both)]
    boxes_only = chance.sample(other_boxes, counts[2] - counts[0])
    train = with_both + masks_only + boxes_only
    rest = [study for study in studies if study not in set(train)]
    train += chance.sample(rest, counts[3] - len(train))
    return with_both + boxes_only, with_both + masks_only, train
