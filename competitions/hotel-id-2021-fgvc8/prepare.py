"""A tenth of Kaggle's labelled images is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

LEFT_OUT = "ce27d36c9147cc19.jpg"


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the images. One image is left out, as in MLE-bench."""
    images = raw.table("train.csv")
    images = images[images["image"] != LEFT_OUT]
    train, test = train_test_split(images, test_size=0.1, random_state=0)
    for part, target in ((train, "train_images/{}/{}"), (test, "test_images/{1}")):
        places = zip(part["chain"], part["image"], strict=True)
        raw.copy_bulk(
            (f"train_images/{chain}/{image}", public / target.format(chain, image))
            for chain, image in places
        )
    write_csv(train, public / "train.csv")
    sample = test[["image"]].assign(hotel_id="36363 53586 18807 64314 60181")
    write_csv(sample, public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
