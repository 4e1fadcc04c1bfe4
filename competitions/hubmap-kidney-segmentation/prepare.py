"""Three of Kaggle's fifteen labelled images are the test set, drawn as MLE-bench draws them."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

ABOUT = "HuBMAP-20-dataset_information.csv"
ENDINGS = (".tiff", ".json", "-anatomical-structure.json")


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the images; the answers have their sizes too."""
    masks, about = raw.table("train.csv"), raw.table(ABOUT)
    about["id"] = about["image_file"].str.replace(".tiff", "")
    about = about[about["id"].isin(masks["id"])]
    train, test = train_test_split(masks, train_size=12, test_size=3, random_state=0)
    test = test.merge(about[["id", "width_pixels", "height_pixels"]], on="id")
    for name, part in (("train", train), ("test", test)):
        files = [f"{image}{ending}" for image in part["id"] for ending in ENDINGS]
        raw.copy_bulk((f"train/{file}", public / name / file) for file in files)
    write_csv(about.drop(columns="id"), public / ABOUT)
    write_csv(train, public / "train.csv")
    sample = test[["id"]].assign(predicted="")
    write_csv(sample, public / "sample_submission.csv")
    (public / "test").mkdir(exist_ok=True)
    write_csv(sample, public / "test" / "sample_submission.csv")
    write_csv(test, private / "test.csv")
