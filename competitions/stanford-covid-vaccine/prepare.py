"""A tenth of Kaggle's labelled molecules is the test set, drawn as MLE-bench draws it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from app.preparation.prepared_files import write_csv
from app.preparation.raw_files import RawFiles

TARGETS = ["reactivity", "deg_Mg_pH10", "deg_pH10", "deg_Mg_50C", "deg_50C"]
DIGITS = "%.10f"


def prepare_files(raw: RawFiles, public: Path, private: Path) -> None:
    """Only molecules that pass Kaggle's filter of signal to noise are in the test set."""
    with raw.open("train.json") as labelled, raw.open("test.json") as unlabelled:
        molecules = pd.read_json(labelled, lines=True)
        shown = pd.read_json(unlabelled, lines=True).columns
    passing = molecules[molecules["SN_filter"] > 0]
    drawn = passing.sample(n=int(len(molecules) * 0.1), random_state=0).index
    is_test = molecules.index.isin(drawn)
    for name, part in (("train", molecules[~is_test]), ("test", molecules[is_test][shown])):
        numbered = part.assign(index=range(len(part)))
        numbered.to_json(public / f"{name}.json", orient="records", lines=True)
    answers = pd.DataFrame(
        row for molecule in molecules[is_test].to_dict("records") for row in rows_of(molecule)
    )
    sample = answers[["id_seqpos", *TARGETS]].assign(**dict.fromkeys(TARGETS, 0.0))
    write_csv(sample, public / "sample_submission.csv", float_format=DIGITS)
    write_csv(answers, private / "test.csv", float_format=DIGITS)


def rows_of(molecule: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A row for each position of a molecule; only the first `seq_scored` have measured values."""
    for place in range(molecule["seq_length"]):
        scored = place < molecule["seq_scored"]
        values = {name: molecule[name][place] if scored else 0.0 for name in TARGETS}
        yield {"id_seqpos": f"{molecule['id']}_{place}", **values, "keep": scored}
