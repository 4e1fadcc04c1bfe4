"""Search for leaks of the answers: equal rows on both sides, ids, order, copies."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from app.domain.wording import counted
from app.preparation.from_table.target import numbers

TELLS = 0.3  # ids or the order reveal the target from this rank correlation on
REPEATS = 2  # how often a value has to occur on average for a pair of columns to say something
COPIES = 0.999  # a column is a copy of the target from this rank correlation on


def leaks(train: pd.DataFrame, test: pd.DataFrame, target: str, own_id: str | None) -> list[str]:
    """A sentence for each leak of the target. `own_id` is an id column of the data."""
    table = pd.concat([train, test])
    features = [name for name in table.columns if name not in (target, own_id)]
    found = []
    if repeated := _repeated(train, test, features):
        have, their = ("has", "its") if repeated == 1 else ("have", "their")
        found.append(
            f"{counted(repeated, 'row')} of the test set {have} a row of the training data with "
            f"the same features: {their} target can be looked up."
        )
    codes = _codes(table[target])
    if own_id is not None:
        tells = _correlation(_codes(table[own_id]), codes)
        if tells > TELLS:
            found.append(
                f"The id {own_id!r} tells the target (rank correlation {tells:.2f}): let Podium "
                "make ids."
            )
    order = _correlation(pd.Series(table.index.to_numpy(), dtype=float), codes)
    if order > TELLS:
        found.append(
            f"The order of the rows tells the target (rank correlation {order:.2f}): the test set "
            "is shuffled; look whether a column tells the order."
        )
    copies = [name for name in features if _is_copy(table[name], table[target], codes)]
    return found + [f"The column {name!r} determines the target: remove it." for name in copies]


def _repeated(train: pd.DataFrame, test: pd.DataFrame, features: list[str]) -> int:
    if not features:
        return 0
    known = set(pd.util.hash_pandas_object(train[features], index=False))
    return int(pd.util.hash_pandas_object(test[features], index=False).isin(known).sum())


def _codes(values: pd.Series[str]) -> pd.Series[float]:
    """Numbers unchanged, texts as codes in their order."""
    found = numbers(values)
    if found is not None:
        return found.reset_index(drop=True)
    return values.rank(method="dense").reset_index(drop=True)


def _correlation(one: pd.Series[float], other: pd.Series[float]) -> float:
    if one.nunique() < 2 or other.nunique() < 2:
        return 0.0
    return abs(float(np.nan_to_num(spearmanr(one.to_numpy(), other.to_numpy()).statistic)))


def _is_copy(values: pd.Series[str], target: pd.Series[str], codes: pd.Series[float]) -> bool:
    """Whether a column determines the target.

    Then each value of one belongs to one value of the other, or both have the same order. Values
    that seldom repeat do so by chance.
    """
    distinct = target.nunique()
    if values.nunique() == distinct and REPEATS * distinct <= len(target):
        pairs = pd.DataFrame({"value": values.to_numpy(), "target": target.to_numpy()})
        return len(pairs.drop_duplicates()) == values.nunique()
    found = numbers(values)
    return found is not None and _correlation(found.reset_index(drop=True), codes) > COPIES
