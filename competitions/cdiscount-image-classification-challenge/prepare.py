"""A tenth of Kaggle's labelled products is the test set, drawn as MLE-bench draws it."""

import contextlib
from pathlib import Path

import pandas as pd
from sklearn.model_selection import train_test_split

from app.preparation.bson_documents import documents, whole_number, without
from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

EXAMPLES = 100


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the documents, which are read twice; those of the test set lack their category."""
    with raw.open("train.bson") as file:
        products = pd.DataFrame(
            [
                (whole_number(one, "_id"), whole_number(one, "category_id"))
                for one in documents(file)
            ],
            columns=["_id", "category_id"],
        )
    answers = train_test_split(products, test_size=0.1, random_state=0)[1].sort_values(by="_id")
    write_csv(answers.assign(category_id=1000010653), public / "sample_submission.csv")
    write_csv(answers, private / "answers.csv")
    raw.copy_bulk([("category_names.csv", public / "category_names.csv")])
    if not raw.grading_only:
        copy_documents(raw, public, set(answers["_id"]))


def copy_documents(raw: RawFiles, public: Path, drawn: set[int]) -> None:
    """Write each document to its side, and the first of the train set to the examples too."""
    with contextlib.ExitStack() as files:
        names = ("train.bson", "train_example.bson", "test.bson")
        train, examples, test = (files.enter_context((public / name).open("xb")) for name in names)
        shown = 0
        for one in documents(files.enter_context(raw.open("train.bson"))):
            if whole_number(one, "_id") in drawn:
                test.write(without(one, "category_id"))
                continue
            train.write(one)
            if shown < EXAMPLES:
                examples.write(one)
            shown += 1
