"""Columns that leak the answers are found, and no others."""

import numpy as np
import pandas as pd
import pytest

from app.preparation.from_table.leaks import leaks


@pytest.fixture
def table() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    numbers = rng.normal(size=(200, 3))
    found = pd.DataFrame(numbers, columns=["a", "b", "y"]).map(repr)
    found.insert(0, "key", [str(one) for one in rng.permutation(200)])
    return found


def found_in(table: pd.DataFrame, own_id: str | None = "key") -> list[str]:
    rows = np.random.default_rng(2).permutation(200)
    return leaks(table.iloc[rows[:150]], table.iloc[rows[150:]], "y", own_id)


def test_honest_tables_have_none(table):
    assert found_in(table) == []


def test_rows_on_both_sides_are_counted(table):
    for name in ("a", "b"):
        table[name] = np.tile(table[name].to_numpy()[:100], 2)

    (found,) = found_in(table)

    assert "rows of the test set have a row of the training data" in found
    assert 10 < int(found.split()[0]) <= 50


def test_one_row_on_both_sides_is_told_in_the_singular(table):
    train, test = table.iloc[:150], pd.concat([table.iloc[150:], table.iloc[:1]])

    (found,) = leaks(train, test, "y", "key")

    assert found.startswith("1 row of the test set has a row of the training data")
    assert found.endswith("its target can be looked up.")


def test_ids_and_order_that_follow_the_target_are_named(table):
    table = table.sort_values("y", key=lambda values: values.astype(float), ignore_index=True)
    table["key"] = [str(n) for n in range(200)]

    ids, order = found_in(table)

    assert "The id 'key' tells the target (rank correlation 1.00)" in ids
    assert "The order of the rows tells the target" in order


@pytest.mark.parametrize("copy", [repr, lambda value: repr(3 * float(value) + 1)])
def test_a_column_that_orders_as_the_target_is_named(table, copy):
    table["copied"] = [copy(float(value)) for value in table["y"]]

    assert found_in(table) == ["The column 'copied' determines the target: remove it."]


def test_other_words_for_the_classes_are_named(table):
    classes = np.random.default_rng(3).integers(0, 3, 200)
    table["y"] = [f"class {one}" for one in classes]
    table["copied"] = [["red", "blue", "green"][one] for one in classes]
    table["independent"] = [["x", "y", "z"][n % 3] for n in range(200)]

    assert found_in(table) == ["The column 'copied' determines the target: remove it."]
