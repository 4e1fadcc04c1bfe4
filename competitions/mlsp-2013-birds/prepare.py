"""A fifth of Kaggle's labelled recordings is the test set, drawn as MLE-bench draws it."""

import io
from pathlib import Path

import pandas as pd

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

ARCHIVE = "mlsp_contest_dataset.zip"
TOP, ESSENTIAL, MORE = "mlsp_contest_dataset", "essential_data", "supplemental_data"
LABELS = f"{ESSENTIAL}/rec_labels_test_hidden.txt"
SPECIES = range(19)
# MLE-bench writes this line above all three tables of segments.
SEGMENTS_HEADER = "rec_id,[histogram of segment features]"


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Number the labelled recordings anew, and split them."""
    recordings = table(raw, f"{ESSENTIAL}/CVfolds_2.txt")
    recordings = recordings[recordings["fold"] == 0].reset_index(drop=True)
    recordings.loc[recordings.sample(frac=0.2, random_state=0).index, "fold"] = 1
    numbers = {old: new for new, old in enumerate(recordings["rec_id"])}
    recordings["rec_id"] = recordings.index
    test = recordings["rec_id"][recordings["fold"] == 1]
    asked = [(recording, species) for recording in test for species in SPECIES]
    labels = renumbered(raw, LABELS, numbers)
    known = {
        recording * 100 + int(species)
        for recording, text in labels
        for species in text.split(",")
        if species
    }
    ordered = [recording for recording, _ in labels if recording in set(test)]
    ids = [recording * 100 + species for recording in ordered for species in SPECIES]
    answers = pd.DataFrame({"Id": ids, "Probability": [int(one in known) for one in ids]})
    sample = pd.DataFrame({"Id": [recording * 100 + species for recording, species in asked]})
    write_csv(sample.assign(Probability=0), public / "sample_submission.csv")
    write_csv(answers, private / "answers.csv")
    if raw.grading_only:
        return
    (public / ESSENTIAL).mkdir()
    write_csv(recordings, public / ESSENTIAL / "CVfolds_2.txt")
    hidden = [(one, "?" if one in set(test) else text) for one, text in labels]
    write_lines("rec_id,[labels]", hidden, public / LABELS)
    names = table(raw, f"{ESSENTIAL}/rec_id2filename.txt")
    names = names[names["rec_id"].isin(numbers)]
    names["rec_id"] = names["rec_id"].map(numbers)
    write_csv(names, public / ESSENTIAL / "rec_id2filename.txt")
    copy_files(raw, public, list(names["filename"]))
    for name in ("histogram_of_segments", "segment_features", "segment_rectangles"):
        segments = renumbered(raw, f"{MORE}/{name}.txt", numbers)
        rows = [f"{recording},{text}" for recording, text in segments]
        text = "\n".join([SEGMENTS_HEADER, *rows]) + "\n"
        (public / MORE / f"{name}.txt").write_text(text, encoding="utf-8")


def table(raw: RawFiles, name: str) -> pd.DataFrame:
    """A table of the archive."""
    return raw.table(f"{TOP}/{name}", within=ARCHIVE)


def renumbered(raw: RawFiles, name: str, numbers: dict[int, int]) -> list[tuple[int, str]]:
    """The new number of a recording and the rest of its line, of each line below the header."""
    with raw.open(f"{TOP}/{name}", within=ARCHIVE) as file:
        lines = io.TextIOWrapper(file, encoding="utf-8").read().splitlines()[1:]
    parts = [line.partition(",") for line in lines]
    return [(numbers[int(own)], rest) for own, _, rest in parts if int(own) in numbers]


def write_lines(header: str, rows: list[tuple[int, str]], file: Path) -> None:
    """Write recordings with their labels; one without any has no comma."""
    lines = [f"{recording},{text}" if text else str(recording) for recording, text in rows]
    file.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")


def copy_files(raw: RawFiles, public: Path, recordings: list[str]) -> None:
    """Copy sounds and pictures of the recordings; not all have an example of segmentation."""
    present = set(raw.names(within=ARCHIVE))
    files = [f"{ESSENTIAL}/species_list.txt"]
    files += [f"{MORE}/{name}.bmp" for name in ("segment_clusters", "segment_mosaic")]
    files += [f"{ESSENTIAL}/src_wavs/{one}.wav" for one in recordings]
    for kind in ("filtered_spectrograms", "spectrograms", "supervised_segmentation"):
        files += [f"{MORE}/{kind}/{one}.bmp" for one in recordings]
    examples = [f"{MORE}/segmentation_examples/{one}.bmp" for one in recordings]
    files += [file for file in examples if f"{TOP}/{file}" in present]
    raw.copy_bulk(((f"{TOP}/{file}", public / file) for file in files), within=ARCHIVE)
