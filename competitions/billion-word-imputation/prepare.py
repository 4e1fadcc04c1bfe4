"""A hundredth of Kaggle's sentences is the test set, each without one word, as in MLE-bench."""

import contextlib
import io
import itertools
import shutil
from pathlib import Path

import numpy as np

from app.preparation.prepared_files import zipped
from app.preparation.raw_files import RawFiles

SENTENCES = 30_301_028
HEADER = b'"id","sentence"\n'


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Draw sentences of three words and more, and in each the word that is left out."""
    sample = private / "sample_submission.csv"
    chance = np.random.RandomState(0)
    number = 0
    with contextlib.ExitStack() as files:
        answers = files.enter_context((private / "test.csv").open("xb"))
        shown = files.enter_context(sample.open("xb"))
        train = None
        if not raw.grading_only:
            archive = zipped(public / "train_v2.txt.zip", "train_v2.txt")
            train = files.enter_context(archive)
        answers.write(HEADER)
        shown.write(HEADER)
        text = io.TextIOWrapper(files.enter_context(raw.open("train_v2.txt")), encoding="utf-8")
        for line in itertools.islice(text, SENTENCES):
            if chance.uniform() <= 0.01 and len(line.split()) > 2:
                sentence = line.strip().replace('"', '""')
                words = sentence.split()
                del words[chance.randint(1, len(words) - 1)]
                answers.write(f'{number},"{sentence}"\n'.encode())
                shown.write(f'{number},"{" ".join(words)}"\n'.encode())
                number += 1
            elif train is not None:
                train.write(line.encode())
    if not raw.grading_only:
        with (
            sample.open("rb") as test,
            zipped(public / "test_v2.txt.zip", "test_v2.txt") as archive,
        ):
            shutil.copyfileobj(test, archive, 1 << 20)
