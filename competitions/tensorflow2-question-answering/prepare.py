"""A tenth of Kaggle's questions is the test set, drawn as MLE-bench draws it."""

import contextlib
from pathlib import Path

import pandas as pd
from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

TRAIN, TEST = "simplified-nq-train.jsonl", "simplified-nq-test.jsonl"
SHOWN = ["example_id", "question_text", "document_text", "long_answer_candidates"]


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split each thousand of questions by itself, so that one thousand is in memory at a time."""
    answers = []
    places = (public / TRAIN, public / TEST, private / "test.jsonl")
    with raw.open(TRAIN) as lines, contextlib.ExitStack() as opened:
        train_file, shown_file, test_file = (opened.enter_context(p.open("x")) for p in places)
        for part in pd.read_json(lines, orient="records", lines=True, chunksize=1000):
            part["example_id"] = part["example_id"].astype(str)
            train, test = train_test_split(part, test_size=0.1, random_state=0)
            for file, rows in ((train_file, train), (shown_file, test[SHOWN]), (test_file, test)):
                file.write(rows.to_json(orient="records", lines=True))
            answers += [f"{one}_{kind}" for one in test["example_id"] for kind in ("short", "long")]
    sample = pd.DataFrame({"example_id": answers, "PredictionString": ""})
    write_csv(sample, public / "sample_submission.csv")
