"""The columns that are proposed as a target, and those that cannot be one."""

import pandas as pd
import pytest

from app.errors import Invalid
from app.preparation.from_table.target import answers, propose


def column(*values: object) -> pd.Series:
    return pd.Series([str(value) for value in values], name="y", dtype=object)


@pytest.mark.parametrize(
    ("values", "kind", "metric"),
    [
        ([0, 1] * 20, "probability", "roc_auc_score"),
        (["True", "False"] * 20, "probability", "roc_auc_score"),
        (["1.0", "0.0"] * 20, "probability", "roc_auc_score"),
        ([1, 2, 3] * 20, "integer", "accuracy_score"),
        ([2**53, 2**53 + 1, 2**53 + 2] * 20, "label", "accuracy_score"),  # two are one double
        (["cat", "dog"] * 20, "label", "accuracy_score"),
        (["cat", "NA"] * 20, "label", "accuracy_score"),
        (["cat"] * 90 + ["dog"] * 10, "label", "balanced_accuracy_score"),
        ([n / 7 for n in range(40)], "number", "root_mean_squared_error"),
        (list(range(40)), "number", "root_mean_squared_error"),
        ([1, 2, 3, 4], "number", "root_mean_squared_error"),
    ],
)
def test_kind_and_metric_follow_the_values(values, kind, metric):
    proposed = propose(column(*values))

    assert (proposed.kind, proposed.metric) == (kind, metric)


@pytest.mark.parametrize(
    ("values", "metric", "kind"),
    [
        ([0, 1] * 20, "f1_score", "boolean"),
        ([1, 2, 3] * 20, "mean_absolute_error", "integer"),
        ([2**53, 2**53 + 1] * 20, "mean_absolute_error", "number"),
        (["a", "b"] * 20, "matthews_corrcoef", "label"),
        (["a", "b"] * 20, "mean_levenshtein_error", "text"),
    ],
)
def test_a_chosen_metric_chooses_the_kind(values, metric, kind):
    proposed = propose(column(*values), metric)

    assert (proposed.kind, proposed.metric) == (kind, metric)


@pytest.mark.parametrize(
    ("values", "metric", "is_class"),
    [
        ([0, 1] * 20, "", True),
        ([1, 2, 3] * 20, "", True),
        ([1, 2, 3] * 20, "mean_absolute_error", True),
        (["a", "b"] * 20, "", True),
        (["a", "b"] * 20, "mean_levenshtein_error", False),
        ([2**53, 2**53 + 1] * 20, "mean_absolute_error", False),
        (list(range(40)), "", False),
    ],
)
def test_the_kind_tells_whether_values_are_classes(values, metric, is_class):
    assert propose(column(*values), metric).is_class is is_class


@pytest.mark.parametrize(
    ("values", "metric", "words"),
    [
        ([1, ""], "", "empty in 1 rows, first in row 2"),
        ([0.5, "NaN", 7, "NA"] * 9, "", "is 'NaN' in row 2, of 18 such rows, and a number in all"),
        ([True, "inf", False] * 9, "", "is 'inf' in row 2, of 9 such rows"),
        ([3] * 9, "", "is '3' in every row"),
        ([f"text {n}" for n in range(30)], "", "neither a number nor a class"),
        ([0, 1] * 9, "rmse", "no metric 'rmse'"),
        (["a", "b"] * 9, "roc_auc_score", "'y' is label or text"),
        ([0, 1] * 9, "fbeta_score", "needs parameters"),
    ],
)
def test_what_does_not_serve_is_said(values, metric, words):
    with pytest.raises(Invalid, match=words):
        propose(column(*values), metric)


@pytest.mark.parametrize("cells", [("True", "false"), ("1.0", "0.0"), ("01", "0")])
def test_answers_of_probabilities_are_1_and_0(cells):
    values = column(*cells * 10)

    assert list(answers(values, propose(values))[:2]) == ["1", "0"]
