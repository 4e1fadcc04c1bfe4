"""The images of two of Kaggle's record files are the test set, as in MLE-bench."""

from pathlib import Path

from app.preparation import tf_records
from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

DRAWN = ["train00-2071.tfrec", "train06-2071.tfrec"]
SHOWN = ["image_name", "patient_id", "sex", "age_approx", "anatom_site_general_challenge"]


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the images, in both forms, and the record files, which are numbered anew."""
    test_images: set[str] = set()
    for name in DRAWN:
        with raw.open(f"tfrecords/{name}") as file:
            test_images.update(tf_records.texts(file, "image_name"))
    images = raw.table("train.csv")
    is_test = images["image_name"].isin(test_images)
    train, test = images[~is_test], images[is_test]
    for side, part in (("train", train), ("test", test)):
        raw.copy_bulk(
            (source.format("train"), public / source.format(side))
            for image in part["image_name"]
            for source in (f"{{}}/{image}.dcm", f"jpeg/{{}}/{image}.jpg")
        )
    records = [name.removeprefix("tfrecords/") for name in raw.names() if is_train_file(name)]
    known = [name for name in records if name not in DRAWN]
    for side, names in (("train", known), ("test", [name for name in records if name in DRAWN])):
        raw.copy_bulk(
            (f"tfrecords/{name}", public / "tfrecords" / f"{side}{number:02d}-{length(name)}.tfrec")
            for number, name in enumerate(names)
        )
    write_csv(train, public / "train.csv")
    write_csv(test[SHOWN], public / "test.csv")
    answers = test[["image_name", "target"]]
    write_csv(answers.assign(target=0), public / "sample_submission.csv")
    write_csv(answers, private / "test.csv")


def is_train_file(name: str) -> bool:
    """Whether a file is one of labelled records."""
    return name.startswith("tfrecords/train") and name.endswith(".tfrec")


def length(name: str) -> str:
    """The number of records, which is in a file's name."""
    return Path(name).stem.split("-")[1]
