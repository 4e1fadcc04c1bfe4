"""A fifth of Kaggle's labelled radar images is the test set, drawn as MLE-bench draws it."""

import io
import json
from pathlib import Path
from typing import IO, Any

import pandas as pd
from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

FOLDER = "data/processed"


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the records; those of the test set have the fields of Kaggle's test set."""
    with raw.open(f"{FOLDER}/train.json", within="train.json.7z") as file:
        train, test = train_test_split(json.load(file), test_size=0.2, random_state=0)
    answers = pd.DataFrame(
        {
            "id": [one["id"] for one in test],
            "is_iceberg": [int(one["is_iceberg"]) for one in test],
        }
    )
    sample = private / "sample_submission.csv"
    write_csv(answers.assign(is_iceberg=0.5), sample)
    write_csv(answers, private / "test.csv")
    if raw.grading_only:
        return
    with raw.open(f"{FOLDER}/test.json", within="test.json.7z") as file:
        fields = list(first_record(file))
    shown = [{name: one[name] for name in fields} for one in test]
    pack("train.json", json.dumps(train).encode(), public)
    pack("test.json", json.dumps(shown).encode(), public)
    pack("sample_submission.csv", sample.read_bytes(), public)


def first_record(file: IO[bytes]) -> dict[str, Any]:
    """The first object of a JSON array; the rest, a gigabyte, is not read."""
    text = ""
    while chunk := file.read(1 << 20):
        text += chunk.decode("ascii")
        try:
            record = json.JSONDecoder().raw_decode(text[text.index("{") :])[0]
        except ValueError:
            continue
        return dict(record)
    raise ValueError("test.json has no records")


def pack(name: str, content: bytes, public: Path) -> None:
    """Write a file alone in an archive, as Kaggle gives it."""
    from app.preparation import seven_zip  # not needed by who only lists prepare.py's functions

    with seven_zip.written(public / f"{name}.7z") as add:
        add(name, io.BytesIO(content))
