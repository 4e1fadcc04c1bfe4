"""Choose the rows of the test set, and which of them are public. Every choice has a seed."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit

from app.errors import Invalid

How = Literal["random", "stratified", "group", "time"]
Rows = npt.NDArray[np.int64]
DAY_OR_MONTH = r"^\s*(\d{1,2})([/.-])(\d{1,2})(?=\2\d\d)"  # the day or the month first


def choose(
    how: How, by: pd.Series[str] | None, rows: int, share: float, seed: int
) -> tuple[Rows, Rows]:
    """The positions of the remaining and of the chosen rows, which are `share` of all rows.

    `by` has the classes, groups or times of the rows. The same share of each class is chosen, or
    complete groups, or the latest times. Rows of one time stay together.

    Raises:
        Invalid: the rows cannot be split so.
    """
    if how == "time":
        assert by is not None  # noqa: S101 (the caller's duty)
        return _latest(by, share)
    splitter = {
        "random": ShuffleSplit, "stratified": StratifiedShuffleSplit, "group": GroupShuffleSplit,
    }[how](n_splits=1, test_size=share, random_state=seed)  # fmt: skip
    places = np.zeros((rows, 1))
    try:
        stay, chosen = next(
            splitter.split(
                places, by if how == "stratified" else None, by if how == "group" else None
            )
        )
    except ValueError as error:
        why = _why(how, by) or str(error)
        raise Invalid(f"A {how} split of {rows} rows is not possible: {why}") from None
    return np.sort(stay), np.sort(chosen)


def _why(how: How, by: pd.Series[str] | None) -> str:
    """The reason why rows cannot be split, if scikit-learn's message would not help."""
    if by is None:
        return ""
    counts = by.value_counts()
    if how == "group" and len(counts) < 2:
        return f"all are of the group {counts.index[0]!r} of {by.name!r}, and both parts need one."
    alone = list(counts.index[counts == 1])
    if how == "stratified" and alone:
        more = f" and {len(alone) - 1} others have" if len(alone) > 1 else " has"
        return (
            f"the class {alone[0]!r}{more} only one row there, and both parts need one. --random "
            "does not keep the shares of the classes."
        )
    return ""


def _times(values: pd.Series[str]) -> pd.Series[float]:
    """The times as numbers in the same order."""
    found = pd.to_numeric(values, errors="coerce")
    if found.isna().any():
        found = pd.to_datetime(_month_first(values), errors="coerce", format="mixed", utc=True)
        found = found.astype("int64").where(found.notna(), np.nan)
    if found.isna().any():
        row = int(np.flatnonzero(found.isna())[0])
        raise Invalid(
            f"The column {values.name!r} is not a time in row {row + 1} ({values.iloc[row]!r}): "
            "write numbers or dates as 2024-08-01T12:00:00."
        )
    return found.astype(float)


def _month_first(values: pd.Series[str]) -> pd.Series[str]:
    """The times with dates such as 31/12/2024 as 12/31/2024; pandas would mix the two forms.

    Raises:
        Invalid: some dates have the day first and others the month, or all may have either.
    """
    parts = values.str.extract(DAY_OR_MONTH)
    is_such = parts[0].notna().to_numpy()
    if not is_such.any():
        return values
    is_day_first, is_month_first = (parts[[0, 2]].astype(float) > 12).any()
    if is_day_first == is_month_first:
        row = int(np.flatnonzero(is_such)[0])
        raise Invalid(
            f"The column {values.name!r} does not say whether days or months come first in dates "
            f"as {values.iloc[row]!r} in row {row + 1}: write dates as 2024-08-01T12:00:00."
        )
    return values.str.replace(DAY_OR_MONTH, r"\3\2\1", regex=True) if is_day_first else values


def _latest(by: pd.Series[str], share: float) -> tuple[Rows, Rows]:
    times = _times(by)
    ordered = np.sort(times.to_numpy())
    first = ordered[min(round(len(ordered) * (1 - share)), len(ordered) - 1)]
    is_chosen = times.to_numpy() >= first
    if is_chosen.all():
        raise Invalid(
            f"The column {by.name!r} has too few times to split by: {by.iloc[times.argmin()]!r} "
            "is the first, and rows of one time stay together."
        )
    return np.flatnonzero(~is_chosen), np.flatnonzero(is_chosen)
