"""5,000 of Kaggle's images are the test set, half of them with a message, as in MLE-bench."""

import random
from pathlib import Path

import pandas as pd
from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

ALGORITHMS = ["JMiPOD", "JUNIWARD", "UERD"]


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the images, number them anew, and draw what is hidden in each of the test set."""
    covers = [Path(name) for name in raw.names() if name.startswith("Cover/")]
    images = [cover.name for cover in covers if cover.suffix == ".jpg"]
    train, test = train_test_split(images, test_size=5000, random_state=42)
    for kind in ("Cover", *ALGORITHMS):
        raw.copy_bulk(
            (f"{kind}/{image}", public / kind / f"{number:05d}.jpg")
            for number, image in enumerate(train, start=1)
        )
    chance = random.Random(0)  # noqa: S311 (MLE-bench's seed)
    chance.shuffle(test)
    kinds = ["Cover" if chance.choice([True, False]) else chance.choice(ALGORITHMS) for _ in test]
    names = [f"{number:04d}.jpg" for number in range(1, len(test) + 1)]
    raw.copy_bulk(
        (f"{kind}/{image}", public / "Test" / name)
        for kind, image, name in zip(kinds, test, names, strict=True)
    )
    answers = pd.DataFrame({"Id": names, "Label": [int(kind != "Cover") for kind in kinds]})
    write_csv(answers.assign(Label=0), public / "sample_submission.csv")
    write_csv(answers, private / "test.csv")
