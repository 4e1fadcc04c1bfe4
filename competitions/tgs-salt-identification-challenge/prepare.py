"""A quarter of Kaggle's labelled images is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the images; depths are given for the train set only."""
    archive = "competition_data.zip"
    masks = raw.table("competition_data/train.csv", within=archive).fillna("")
    drawn = train_test_split(masks, test_size=0.25, random_state=0)
    train, test = (part.sort_values("id") for part in drawn)
    for kind, side, part in (
        ("images", "train", train),
        ("masks", "train", train),
        ("images", "test", test),
    ):
        images = [f"{image}.png" for image in part["id"]]
        raw.copy_bulk(
            (
                (f"competition_data/train/{kind}/{image}", public / side / kind / image)
                for image in images
            ),
            within=archive,
        )
    depths = raw.table("depths.csv")
    write_csv(depths[depths["id"].isin(train["id"])].sort_values("id"), public / "depths.csv")
    write_csv(train, public / "train.csv")
    write_csv(test[["id"]].assign(rle_mask="1 1"), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
