"""20,000 of Kaggle's notebooks are the test set, drawn as MLE-bench draws them."""

import json
from pathlib import Path

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

TEST_NOTEBOOKS = 20_000


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split so that no notebook has a relative on the other side."""
    ancestors = raw.table("train_ancestors.csv").sample(frac=1, random_state=0)
    families = ancestors.groupby("ancestor_id", sort=False)["id"].apply(list)
    chosen: set[str] = set()
    for family in families:
        if len(chosen) + len(family) <= TEST_NOTEBOOKS:
            chosen.update(family)
    is_test = ancestors["id"].isin(chosen)
    for name, part in (("train", ancestors[~is_test]), ("test", ancestors[is_test])):
        notebooks = [f"{notebook}.json" for notebook in part["id"]]
        raw.copy_bulk((f"train/{one}", public / name / one) for one in notebooks)
    orders = raw.table("train_orders.csv")
    train, test = orders[~orders["id"].isin(chosen)], orders[orders["id"].isin(chosen)]
    write_csv(ancestors[~is_test], public / "train_ancestors.csv")
    write_csv(train, public / "train_orders.csv")
    sample = test[["id"]].assign(cell_order=[order_in_file(raw, one) for one in test["id"]])
    write_csv(sample, public / "sample_submission.csv")
    write_csv(test, private / "test_orders.csv")


def order_in_file(raw: RawFiles, notebook: str) -> str:
    """The cells of a notebook in the order of its file: code first, then shuffled text."""
    with raw.open(f"train/{notebook}.json") as file:
        return " ".join(json.load(file)["cell_type"])
