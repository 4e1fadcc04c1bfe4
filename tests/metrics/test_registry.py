"""The registry: what it accepts, and what it says about mistakes."""

import numpy as np
import pytest

from app.domain.competition import parse_competition
from app.metrics import METRICS, bind, problems
from app.metrics.registry import metric

BANDS, TWO_BANDS = "weighted_roc_auc_score", "thresholds = [0.0, 0.4, 1.0]"
TWO_NUMBERS = 'a = { kind = "number" }\nb = { kind = "number" }'


def competition(metric_name, columns, parameters=""):
    return parse_competition(
        "x",
        f"""
        title = "X"
        version = 1
        [metric]
        name = "{metric_name}"
        parameters = {{ {parameters} }}
        [submission]
        id = "id"
        [submission.columns]
        {columns}
        """,
    )


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("auc_score", "roc_auc_score"),
        ("root_mean_squared_logarithmic_error", "root_mean_squared_log_error"),
        ("quadratic_weighted_kappa_score", "cohen_kappa_score"),
        ("logloss", "log_loss"),
    ],
)
def test_an_unknown_metric_is_answered_with_near_names(name, near):
    with pytest.raises(ValueError, match=f"there is no metric '{name}'; did you mean .*{near}"):
        bind(name, {})


def test_a_metric_like_none_is_answered_with_all_names():
    with pytest.raises(ValueError, match="metrics: ") as caught:
        bind("zzz", {})

    assert all(name in str(caught.value) for name in METRICS)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        (
            "f1_score",
            {"average": "mean"},
            r"f1_score: average = 'mean': 'mean' is not one of 'macro'",
        ),
        (
            "cohen_kappa_score",
            {"weights": 2},
            r"weights = 2: 2 is not one of 'linear', 'quadratic'",
        ),
        ("cohen_kappa_score", {"labels": [1, "b"]}, r"labels = \[1, 'b'\]: .* a whole number"),
        ("mean_average_precision_at_k_score", {}, r"the parameter 'k' is required"),
        ("mean_average_precision_at_k_score", {"k": 0}, r"k = 0: .* at least 1, not 0"),
        ("mean_average_precision_at_k_score", {"k": 5.0}, r"k = 5.0: .* a whole number"),
        ("mean_average_precision_at_k_score", {"k": True}, r"k = True: .* a whole number"),
        (
            "mean_average_precision_at_k_score",
            {"K": 5},
            r"no parameter 'K'; parameters: k; .*'k' is",
        ),
        ("roc_auc_score", {"k": 5}, r"there is no parameter 'k'; parameters: none"),
    ],
)
def test_a_wrong_parameter_is_named_with_what_is_wrong(name, parameters, message):
    with pytest.raises(ValueError, match=message):
        bind(name, parameters)


def test_what_is_bound_is_called_with_its_parameters():
    lenient, strict = (bind("f1_score", {"average": a}) for a in ("micro", "macro"))
    answers, submission = np.array([0, 0, 0, 1]), np.array([0, 0, 0, 0])

    assert lenient(answers, submission) == 0.75
    assert strict(answers, submission) == pytest.approx(3 / 7)


@pytest.mark.parametrize(
    ("name", "columns", "parameters"),
    [
        ("root_mean_squared_log_error", 'y = { kind = "number", min = 0 }', ""),
        ("root_mean_squared_log_error", 'y = { kind = "integer", min = 1 }', ""),
        ("root_mean_squared_log_error", 'y = { kind = "probability" }', ""),
        ("log_loss", 'a = { kind = "probability" }\nb = { kind = "probability" }', ""),
        ("f1_score", 'y = { kind = "label" }', 'average = "macro"'),
        ("f1_score", 'y = { kind = "boolean" }', 'average = "binary"'),
        ("cohen_kappa_score", 'y = { kind = "integer" }', 'weights = "quadratic"'),
        ("cohen_kappa_score", 'y = { kind = "integer", min = 0, max = 2 }', "labels = [0, 1, 2]"),
        ("cohen_kappa_score", 'y = { kind = "boolean" }', "labels = [1, 0]"),
        ("dice_score", 'm = { kind = "mask", height = 5, width = 7 }', ""),
        ("mean_average_precision_at_k_score", 'r = { kind = "list" }', "k = 5"),
        ("mean_levenshtein_error", 't = { kind = "text" }', ""),
        (BANDS, 'y = { kind = "number" }', f"{TWO_BANDS}, weights = [2.0, 1.0]"),
        ("label_ranking_average_precision_score", TWO_NUMBERS, ""),
        ("mean_angular_error", TWO_NUMBERS, ""),
    ],
)
def test_a_fitting_competition_has_no_problems(name, columns, parameters):
    assert problems(competition(name, columns, parameters)) == []


KAPPA = "cohen_kappa_score"
RMSLE = "root_mean_squared_log_error"
LABEL = 'y = { kind = "label" }'
NUMBER = 'y = { kind = "number" }'
SCALE = 'y = { kind = "integer", min = 0, max = 2 }'


@pytest.mark.parametrize(
    ("name", "columns", "parameters", "message"),
    [
        ("auc_score", NUMBER, "", "there is no metric 'auc_score'; did you mean roc_auc_score"),
        ("f1_score", LABEL, "beta = 2", "f1_score: there is no parameter 'beta'; parameters: aver"),
        ("log_loss", NUMBER, "", "columns of kind number ('y'); it takes probability"),
        ("f1_score", f"{LABEL}\nb = {{ kind = 'label' }}", "", "f1_score takes one column, not 2"),
        (RMSLE, NUMBER, "", "defined from 0 up: declare min = 0 or more for column 'y'"),
        (RMSLE, 'y = { kind = "number", min = -1 }', "", "defined from 0 up: declare min = 0"),
        ("f1_score", LABEL, 'average = "binary"', "declare column 'y' boolean"),
        (KAPPA, LABEL, 'weights = "linear"', "weights needs classes that are numbers"),
        (KAPPA, LABEL, "labels = [1]", "labels needs classes that are numbers"),
        (KAPPA, 'y = { kind = "integer" }', "labels = [0, 1]", "labels must hold all"),
        (KAPPA, NUMBER, "labels = [0, 1]", "labels must hold all that column 'y' may"),
        (KAPPA, 'y = { kind = "text" }', "labels = [0, 1]", "does not take columns of kind text"),
        (KAPPA, SCALE, "labels = [0, 2]", "labels must hold all that column 'y' may"),
        (KAPPA, SCALE, "labels = [0, 1, 2, 2]", "labels repeats a label"),
        (BANDS, NUMBER, "thresholds = [0.0, 0.9], weights = [1.0]", "must run from 0.0 to 1.0"),
        (BANDS, NUMBER, "thresholds = [0.1, 1.0], weights = [1.0]", "must run from 0.0 to 1.0"),
        (BANDS, NUMBER, "thresholds = [0.0], weights = []", "must run from 0.0 to 1.0"),
        (BANDS, NUMBER, "thresholds = [0.0, 1.0, 1.0], weights = [1.0, 1.0]", "must ascend"),
        (BANDS, NUMBER, "thresholds = [0.0, nan, 1.0], weights = [1.0, 1.0]", "must ascend"),
        (BANDS, NUMBER, f"{TWO_BANDS}, weights = [1.0]", "one finite weight above 0"),
        (BANDS, NUMBER, f"{TWO_BANDS}, weights = [1.0, 0.0]", "one finite weight above 0"),
        (BANDS, NUMBER, f"{TWO_BANDS}, weights = [1.0, nan]", "one finite weight above 0"),
        (BANDS, NUMBER, f"{TWO_BANDS}, weights = [inf, 1.0]", "one finite weight above 0"),
        ("label_ranking_average_precision_score", NUMBER, "", "one for each label"),
        ("mean_angular_error", NUMBER, "", "the azimuth and the zenith angle"),
    ],
)
def test_a_problem_is_told_with_what_to_do(name, columns, parameters, message):
    [told] = problems(competition(name, columns, parameters))

    assert message in told


def test_all_columns_that_do_not_fit_are_named():
    found = problems(competition("dice_score", 'a = { kind = "label" }\nb = { kind = "text" }'))

    assert ["'a'" in found[0], "'b'" in found[1], "one column" in found[2]] == [True] * 3


def test_a_metric_whose_name_tells_no_direction_is_not_registered():
    def cleverness(y_true, y_pred):
        return 1.0

    with pytest.raises(ValueError, match="does not tell its direction"):
        metric(kinds={"number"})(cleverness)

    assert "cleverness" not in METRICS


def test_a_name_is_registered_once():
    def log_loss(y_true, y_pred):
        return 1.0

    with pytest.raises(ValueError, match="two metrics called log_loss"):
        metric(kinds={"number"})(log_loss)


def test_a_kind_that_does_not_exist_is_not_registered():
    with pytest.raises(ValueError, match="'numbre' is not a kind of column; kinds: boolean, boxes"):
        metric(kinds={"numbre"})
