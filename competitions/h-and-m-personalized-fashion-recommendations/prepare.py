"""The last days of Kaggle's purchases are the test set, as in MLE-bench."""

from pathlib import Path

import pandas as pd

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split by date: a week before the last purchase and that day itself, eight dates in all."""
    purchases = raw.table("transactions_train.csv")
    dates = pd.to_datetime(purchases["t_dat"])
    is_test = dates >= dates.max() - pd.Timedelta(days=7)
    images = [name for name in raw.names() if name.startswith("images/")]
    raw.copy_bulk((name, public / name) for name in images)
    for name in ("articles.csv", "customers.csv", "sample_submission.csv"):
        raw.copy(name, public / name)
    write_csv(purchases[~is_test], public / "transactions_train.csv")
    articles = purchases[is_test].astype({"article_id": str}).groupby("customer_id")["article_id"]
    answers = articles.apply(" ".join).reset_index(name="prediction")
    write_csv(answers, private / "answers.csv")
