"""The share of right rows, where several answers may be right: the column `accepted` of the answers
lists them, joined by "|", and a blank is right where it lists none. Only this competition has that.

As in MLE-bench; Kaggle's own metric is a micro F1 that does not reward blanks.
"""

import pandas as pd


def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    pairs = zip(answers["accepted"], submission["PredictionString"], strict=True)
    return sum(_plain(given) in accepted.split("|") for accepted, given in pairs) / len(answers)


def _plain(given: str) -> str:
    """A range of tokens without leading zeros and blanks, so that equal ranges are equal texts."""
    return ":".join(
        part if part in ("YES", "NO", "") else str(int(part)) for part in given.strip().split(":")
    )
