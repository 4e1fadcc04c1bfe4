"""A family of metrics: one competition of it, synthetic data of its format, and the reference way.

The reference ways follow what MLE-bench's graders do (sort both frames by id, compare the ids, call
scikit-learn, SciPy or a plain loop), written anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

Columns = Mapping[str, Any]


@dataclass(frozen=True)
class Data:
    """The columns of the answers file and of a submission; the sample submission has its ids."""

    answers: Columns
    submission: Columns


@dataclass(frozen=True)
class Family:
    """A measured competition: its number of `rows`, and the source of that number.

    `exact` and `estimate` are MLE-bench's test sets as known; `assumed` stands where nobody says
    how many they are, `smaller` where the reference would take minutes.
    """

    slug: str
    rows: int
    size: Literal["exact", "estimate", "assumed", "smaller"]
    make: Callable[[np.random.Generator, int], Data]
    reference: Callable[[pd.DataFrame, pd.DataFrame], float]
    # Where answers are not CSV there: to bytes of ours, to a file of theirs, and reading that.
    convert: Callable[[Data], bytes] | None = None
    write_original: Callable[[Data, Path], None] | None = None
    read_original: Callable[[Path], Any] | None = None


def aligned(
    answers: pd.DataFrame, submission: pd.DataFrame, *key: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both frames sorted by id, the ids compared."""
    answers = answers.sort_values(list(key)).reset_index(drop=True)
    submission = submission.sort_values(list(key)).reset_index(drop=True)
    for name in key:
        if not (answers[name].to_numpy() == submission[name].to_numpy()).all():
            raise ValueError("ids differ")
    return answers, submission


def hexes(rng: np.random.Generator, count: int, digits: int) -> list[str]:
    """Random ids of hexadecimal digits."""
    text = rng.bytes(count * digits // 2 + 1).hex()
    return [text[start : start + digits] for start in range(0, count * digits, digits)]


def joined(tokens: Any, counts: Any) -> pa.Array:
    """Cells that hold so many of the tokens each, in turn, joined by spaces."""
    offsets = pa.array(np.concatenate([[0], np.cumsum(counts)]), pa.int32())
    texts = pa.array(tokens).cast(pa.string())
    return pc.binary_join(pa.ListArray.from_arrays(offsets, texts), " ")


def one_in(rng: np.random.Generator, share: float, rows: int) -> Any:
    """Ones in about this share of the rows, and zeros."""
    return (rng.random(rows) < share).astype(int)


def blurred(rng: np.random.Generator, truth: Any, noise: float) -> Any:
    """Probabilities that lean to the truth."""
    return np.clip(truth * (1 - noise) + rng.random(np.shape(truth)) * noise, 0, 1)


def mostly(rng: np.random.Generator, truth: Any, choices: int, share: float) -> Any:
    """The truth in this share of the rows, and a random choice in the others."""
    return np.where(rng.random(len(truth)) < share, truth, rng.integers(0, choices, len(truth)))


def words(rng: np.random.Generator, count: int, longest: int = 10) -> Sequence[str]:
    """Random words of small letters."""
    lengths = rng.integers(2, longest + 1, count)
    letters = "".join(map(chr, rng.integers(97, 123, int(lengths.sum()))))
    ends = np.cumsum(lengths)
    return [letters[end - size : end] for end, size in zip(ends, lengths, strict=True)]
