"""A tenth of Kaggle's labelled images is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

import pandas as pd
from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the images and number them anew: cats and dogs one by one, the test set together."""
    names = raw.names(within="train.zip")
    images = [name for name in names if name.startswith("train/") and name.endswith(".jpg")]
    train, test = train_test_split(images, test_size=0.1, random_state=0)
    counts = {"cat": 0, "dog": 0}
    renamed = []
    for image in train:
        animal = animal_of(image)
        renamed.append((image, f"{animal}.{counts[animal]}.jpg"))
        counts[animal] += 1
    numbered = [(image, f"{number}.jpg") for number, image in enumerate(test, start=1)]
    raw.zip_bulk(renamed, public / "train.zip", within="train.zip")
    raw.zip_bulk(numbered, public / "test.zip", within="train.zip")
    labels = [int(animal_of(image) == "dog") for image in test]
    answers = pd.DataFrame({"id": range(1, len(test) + 1), "label": labels})
    write_csv(answers.assign(label=0.5), public / "sample_submission.csv")
    write_csv(answers, private / "answers.csv")


def animal_of(image: str) -> str:
    """What an image shows, which its name says."""
    return "cat" if "cat" in image.rpartition("/")[2] else "dog"
