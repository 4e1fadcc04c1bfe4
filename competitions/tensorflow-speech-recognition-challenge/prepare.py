"""A tenth of Kaggle's labelled recordings is the test set, drawn as MLE-bench draws it."""

from pathlib import Path, PurePosixPath

import pandas as pd
from sklearn.model_selection import train_test_split

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

ARCHIVE, FOLDER = "train.7z", "train/audio/"


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the recordings, whose labels are the folders in which they lie."""
    names = [PurePosixPath(one) for one in raw.names(within=ARCHIVE) if one.startswith(FOLDER)]
    recordings = sorted(
        (one for one in names if one.suffix == ".wav"),
        key=lambda one: f"{one.parent.name}_{one.name}",
    )
    train, test = train_test_split(recordings, test_size=0.1, random_state=0)
    clips = [f"clip_{number:08d}.wav" for number in range(len(test))]
    targets = {one: public / FOLDER / one.parent.name / one.name for one in train}
    targets |= {
        one: public / "test" / "audio" / clip for one, clip in zip(test, clips, strict=True)
    }
    raw.copy_bulk(((str(one), target) for one, target in targets.items()), within=ARCHIVE)
    answers = pd.DataFrame({"fname": clips, "label": [one.parent.name for one in test]})
    write_csv(answers.assign(label="silence"), public / "sample_submission.csv")
    write_csv(answers, private / "test.csv")
