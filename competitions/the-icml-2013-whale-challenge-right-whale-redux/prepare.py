"""The last two of the four days of Kaggle's labelled recordings are the test set."""

import re
from pathlib import Path

import pandas as pd

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

DAYS = 4


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the days as MLE-bench does, and number the recordings anew, in order of time."""
    files = [name for name in raw.names(within="train2.zip") if name.startswith("train2/")]
    names = sorted(file.removeprefix("train2/") for file in files)
    days = sorted({name.split("_")[0] for name in names})
    if len(days) != DAYS:
        raise ValueError(f"train2.zip has recordings of {len(days)} days, not of {DAYS}")
    train = [name for name in names if name.split("_")[0] in days[:2]]
    test = [name for name in names if name.split("_")[0] in days[2:]]
    numbered = [re.sub(r"TRAIN\d+", f"TRAIN{place}", name) for place, name in enumerate(train)]
    clips = [f"{name.split('TRAIN')[0]}Test{place}.aif" for place, name in enumerate(test)]
    for folder, part, new in (("train2", train, numbered), ("test2", test, clips)):
        raw.zip_bulk(
            [(f"train2/{old}", f"{folder}/{name}") for old, name in zip(part, new, strict=True)],
            public / f"{folder}.zip",
            within="train2.zip",
        )
    labels = [int(Path(name).stem.endswith("_1")) for name in test]
    answers = pd.DataFrame({"clip": clips, "probability": labels})
    write_csv(answers.assign(probability=0), public / "sampleSubmission.csv")
    write_csv(answers, private / "test.csv")
