"""A tenth of Kaggle's cases, and the later days of others, are the test set, as in MLE-bench."""

from pathlib import Path

import pandas as pd
from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

DAYS = 4  # of a case that stay in the train set


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split cases and days; the sizes of images are in their names."""
    rows = raw.table("train.csv")
    parts = rows["id"].str.split("_", expand=True)  # case, day, the word slice, number
    rows["case"], rows["day"], rows["number"] = parts[0], parts[0] + "_" + parts[1], parts[3]
    test_days = days_drawn(rows)
    is_test = rows["day"].isin(test_days)
    files = [name.split("/") for name in raw.names() if name.startswith("train/")]
    drawn = set(rows["case"]) - set(rows["case"][~is_test])
    cases = set(rows["case"])
    raw.copy_bulk(
        ("/".join(file), public.joinpath(side(file, drawn, test_days), *file[1:]))
        for file in files
        if file[1] in cases
    )
    sizes = {}
    for file in files:
        if len(file) == 5 and file[3] == "scans":
            _, number, width, height, *_ = file[4].split("_")
            sizes[file[2], number] = (float(width), float(height))
    known = rows.columns[:3]
    test = rows[is_test].rename(columns={"segmentation": "predicted"})
    slices = [sizes[place] for place in zip(test["day"], test["number"], strict=True)]
    test = test[["id", "class", "predicted"]]
    write_csv(rows[~is_test][known], public / "train.csv")
    write_csv(test[["id", "class"]], public / "test.csv")
    write_csv(test.assign(predicted="1 1 5 2"), public / "sample_submission.csv")
    widths, heights = zip(*slices, strict=True)
    answers = test.assign(image_width=widths, image_height=heights)
    write_csv(answers, private / "test.csv")


def days_drawn(rows: pd.DataFrame) -> set[str]:
    """The days of the cases that are drawn, and those of the others behind the fourth."""
    cases = train_test_split(list(rows["case"].unique()), test_size=0.1, random_state=42)[1]
    is_drawn = rows["case"].isin(cases)
    drawn = set(rows["day"][is_drawn])
    for _, days in rows[~is_drawn].groupby("case")["day"]:
        ordered = sorted(set(days), key=lambda day: int(day.partition("_day")[2]))
        drawn.update(ordered[DAYS:])
    return drawn


def side(file: list[str], drawn: set[str], test_days: set[str]) -> str:
    """Where a file goes: with its day, or with its case if it has no day in the table."""
    return "test" if file[2] in test_days or file[1] in drawn else "train"
