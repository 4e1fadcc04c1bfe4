"""A part of Kaggle's train.json is the test set, drawn as MLE-bench draws it."""

import json
from pathlib import Path

import pandas as pd
from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv, zipped
from app.preparation.raw_files import RawFiles

TARGET = "requester_received_pizza"


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the requests so that the test set's share is that of Kaggle's own."""
    with raw.open("train.json") as labelled, raw.open("test.json") as unlabelled:
        requests, old_test = json.load(labelled), json.load(unlabelled)
    share = len(old_test) / (len(requests) + len(old_test))
    train, test = train_test_split(requests, test_size=share, random_state=0)
    shown = [{key: request[key] for key in old_test[0]} for request in test]
    for name, rows in (("train", train), ("test", shown)):
        text = json.dumps(rows, indent=4).encode()
        (public / f"{name}.json").write_bytes(text)
        with zipped(public / f"{name}.zip", f"{name}.json") as stream:
            stream.write(text)
    answers = pd.DataFrame(
        {
            "request_id": [request["request_id"] for request in test],
            TARGET: [int(request[TARGET]) for request in test],
        }
    )
    write_csv(answers.assign(**{TARGET: 0}), public / "sampleSubmission.csv")
    write_csv(answers, private / "test.csv")
