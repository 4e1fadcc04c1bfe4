"""The share of right rows, where several answers may be right: the column `accepted` of the answers
lists them, joined by "|", and a blank is right where it lists none. Only this competition has that.

As in MLE-bench; Kaggle's own metric is a micro F1 that does not reward blanks.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

# A range of tokens without leading zeros and blanks; every other one has to be rewritten.
PLAIN = r"^(?:YES|NO|(?:0|-?[1-9][0-9]*):(?:0|-?[1-9][0-9]*))?$"


@dataclass(frozen=True)
class Truth:
    """What is accepted, as written and as lists, and which rows accept several texts."""

    written: pa.Array
    lists: list[list[str]]
    has_several: np.ndarray


def prepare(answers: pd.DataFrame) -> Truth:
    accepted = _texts(answers["accepted"])
    several = pc.match_substring(accepted, "|").to_numpy(zero_copy_only=False)
    return Truth(accepted, [text.split("|") for text in accepted.to_pylist()], several)


def score(truth: Truth, submission: pd.DataFrame) -> float:
    given = _texts(submission["PredictionString"])
    right = pc.equal(given, truth.written).to_numpy(zero_copy_only=False).copy()
    is_plain = pc.match_substring_regex(given, PLAIN).to_numpy(zero_copy_only=False)
    # Plain texts and one accepted one are compared above, all at once.
    for row in np.flatnonzero(~is_plain | truth.has_several).tolist():
        right[row] = _plain(given[row].as_py()) in truth.lists[row]
    return int(np.count_nonzero(right)) / len(right)


def _texts(column: pd.Series) -> pa.Array:
    texts = pa.array(column, pa.string())
    return texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts


def _plain(given: str) -> str:
    return ":".join(
        part if part in ("YES", "NO", "") else str(int(part)) for part in given.strip().split(":")
    )
