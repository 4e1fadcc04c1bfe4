"""The third of Kaggle's labelled fragments is the test set, as in MLE-bench."""

import struct
from pathlib import Path
from typing import IO

import pandas as pd

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

TEST = "train/3/"
HIDDEN = {"inklabels.png", "inklabels_rle.csv", "ir.png"}
PNG = b"\x89PNG\r\n\x1a\n"


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Nothing is drawn. The answers have the size of the fragment too."""
    names = raw.names()
    raw.copy_bulk((one, public / one) for one in names if one.startswith(("train/1/", "train/2/")))
    shown = [one.removeprefix(TEST) for one in names if one.startswith(TEST)]
    raw.copy_bulk(
        (TEST + one, public / "test" / "a" / one)
        for one in shown
        if one.rpartition("/")[2] not in HIDDEN
    )
    with raw.open(f"{TEST}ir.png") as image:
        width, height = size_of(image)
    labels = raw.table(f"{TEST}inklabels_rle.csv")
    if len(labels) != 1:
        raise ValueError(f"{TEST}inklabels_rle.csv has {len(labels)} rows, not one")
    write_csv(labels.assign(width=width, height=height, Id="a"), private / "inklabels_rle.csv")
    sample = pd.DataFrame({"Id": ["a"], "Predicted": ["1 1 5 1"]})
    write_csv(sample, public / "sample_submission.csv")


def size_of(image: IO[bytes]) -> tuple[int, int]:
    """Width and height of a PNG image, which its first bytes say; the pixels are not read."""
    head = image.read(24)
    if head[:8] != PNG or head[12:16] != b"IHDR":
        raise ValueError("ir.png is not a PNG image")
    width, height = struct.unpack(">II", head[16:])
    return width, height
