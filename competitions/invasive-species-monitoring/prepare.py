"""A fifth of Kaggle's labelled images is the test set, drawn as MLE-bench draws it."""

from pathlib import Path
from typing import IO

from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv, write_zipped_csv
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the images; the public tables are in archives, as Kaggle's."""
    train, test = train_test_split(raw.table("train_labels.csv"), test_size=0.2, random_state=0)
    sample = test.assign(invasive=0.5)
    for table, name in ((train, "train_labels.csv"), (sample, "sample_submission.csv")):
        write_zipped_csv(table, public / f"{name}.zip", name)
    write_csv(sample, private / "sample_submission.csv")
    write_csv(test, private / "answers.csv")
    if not raw.grading_only:
        drawn = {f"train/{image}.jpg": f"test/{image}.jpg" for image in test["name"]}
        copy_images(raw, public, [f"train/{image}.jpg" for image in train["name"]], drawn)


def copy_images(raw: RawFiles, public: Path, train: list[str], test: dict[str, str]) -> None:
    """Read the archive once, and put each image into that of its side."""
    from app.preparation import seven_zip  # not needed for grading only

    with (
        seven_zip.written(public / "train.7z", stored=True) as to_train,
        seven_zip.written(public / "test.7z", stored=True) as to_test,
    ):

        def place(name: str, content: IO[bytes], _: int) -> None:
            if name in test:
                to_test(test[name], content)
            else:
                to_train(name, content)

        raw.read_members("train.7z", [*train, *test], place)
