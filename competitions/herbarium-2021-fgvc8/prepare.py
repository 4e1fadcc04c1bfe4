"""A fifth of each of Kaggle's species is the test set, drawn as MLE-bench draws it."""

from pathlib import Path

from app.preparation.labelled_images import prepare_a_fifth
from app.preparation.raw_files import RawFiles


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Split the images of each species, and number those of the test set anew."""
    prepare_a_fifth(raw, public, private, train="train", test="test", encoding="utf-8")
