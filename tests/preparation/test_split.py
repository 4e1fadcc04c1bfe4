"""Splits: shares, groups, times, seeds."""

import numpy as np
import pandas as pd
import pytest

from app.errors import Invalid
from app.preparation.from_table.split import choose

CLASSES = pd.Series(["a"] * 80 + ["b"] * 20, name="y")


@pytest.mark.parametrize(("how", "by"), [("random", None), ("stratified", CLASSES)])
def test_a_seed_makes_the_same_choice_and_another_another(how, by):
    one, again, other = (choose(how, by, 100, 0.2, seed)[1] for seed in (1, 1, 2))

    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(("how", "by"), [("random", None), ("stratified", CLASSES)])
def test_each_row_is_on_one_side(how, by):
    stay, chosen = choose(how, by, 100, 0.2, 3)

    assert sorted([*stay, *chosen]) == list(range(100))
    assert len(chosen) == 20


def test_classes_keep_their_shares():
    _, chosen = choose("stratified", CLASSES, 100, 0.2, 4)

    assert dict(CLASSES.iloc[chosen].value_counts()) == {"a": 16, "b": 4}


def test_groups_stay_together():
    groups = pd.Series([str(n // 7) for n in range(100)], name="g")

    stay, chosen = choose("group", groups, 100, 0.2, 5)

    assert not set(groups.iloc[stay]) & set(groups.iloc[chosen])


@pytest.mark.parametrize(
    "style",
    ["{}", "2024-01-{:02}", "2024-01-{:02}T10:00:00+02:00", "{:02}.03.2024", "3/{}/24 10:00",
     "{}-03-2024T10:00"],
)  # fmt: skip
def test_the_latest_times_are_chosen_and_one_time_stays_together(style):
    days = [n // 5 + 1 for n in range(100)]
    times = pd.Series([style.format(day) for day in days], name="t")

    stay, chosen = choose("time", times, 100, 0.22, 6)

    assert max(days[n] for n in stay) < min(days[n] for n in chosen)
    assert len(chosen) == 25  # 22, and the rest of their first day


@pytest.mark.parametrize(
    ("how", "by", "words"),
    [
        ("time", pd.Series(["2024-01-01", "soon"], name="t"), "not a time in row 2 \\('soon'\\)"),
        ("time", pd.Series(["5"] * 2, name="t"), "too few times"),
        ("time", pd.Series(["3/4/24", "5/4/24"], name="t"), "days or months come first .* row 1"),
        ("time", pd.Series(["31/4/24", "5/14/24"], name="t"), "days or months come first"),
        ("time", pd.Series(["2024-01-02"] * 2, name="t"), "split by: '2024-01-02' is the first"),
        ("stratified", pd.Series(["a", "b"], name="y"), "class 'a' and 1 others have only one row"),
        ("group", pd.Series(["a", "a"], name="g"), "not possible: all are of the group 'a' of 'g'"),
    ],
)
def test_what_cannot_be_split_is_said(how, by, words):
    with pytest.raises(Invalid, match=words):
        choose(how, by, 2, 0.5, 0)


def test_the_last_row_is_chosen_by_time_however_small_the_share_is():
    """It was an IndexError."""
    _, chosen = choose("time", pd.Series([str(n) for n in range(20)], name="t"), 20, 0.01, 0)

    assert list(chosen) == [19]
