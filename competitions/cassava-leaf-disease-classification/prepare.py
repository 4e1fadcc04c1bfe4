"""Two of Kaggle's sixteen record files are the test set, drawn as MLE-bench draws them."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation import tf_records
from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the record files, and the table and images by what is in them."""
    records = [Path(name) for name in raw.names() if name.startswith("train_tfrecords/")]
    records = [file for file in records if file.suffix == ".tfrec"]
    parts = train_test_split(records, test_size=0.1, random_state=0)
    for side, part in zip(("train", "test"), parts, strict=True):
        raw.copy_bulk(
            (
                str(file),
                public / f"{side}_tfrecords" / f"ld_{side}{number:02d}-{length(file)}.tfrec",
            )
            for number, file in enumerate(part)
        )
    drawn: set[str] = set()
    for file in parts[1]:
        with raw.open(str(file)) as stream:
            drawn.update(tf_records.texts(stream, "image_name"))
    images = raw.table("train.csv")
    is_test = images["image_id"].isin(drawn)
    train, test = images[~is_test], images[is_test]
    for side, table in (("train", train), ("test", test)):
        raw.copy_bulk(
            (f"train_images/{image}", public / f"{side}_images" / image)
            for image in table["image_id"]
        )
    raw.copy("label_num_to_disease_map.json", public / "label_num_to_disease_map.json")
    write_csv(train, public / "train.csv")
    write_csv(test.assign(label=4), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")


def length(file: Path) -> str:
    """The number of records, which is in a file's name."""
    return file.stem.split("-")[1]
