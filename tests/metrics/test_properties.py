"""Properties of every registered metric."""

import functools
import math
import pickle
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.metric_choice import higher_is_better
from app.metrics import METRICS, bind
from app.metrics.registry import KINDS
from tests.examples import examples
from tests.metrics.samples import CASES, MAKERS, ROWS, required_parameters, sample

every_case = pytest.mark.parametrize(("name", "kind", "columns"), CASES)
every_metric = pytest.mark.parametrize("name", METRICS)


def take(values, rows):
    return values[rows] if isinstance(values, np.ndarray) else values.take(rows)


@every_case
def test_the_score_is_a_finite_plain_float(name, kind, columns):
    s = sample(name, kind, columns, seed=1)

    for prediction in (s.y_pred, s.y_true):
        score = s.score(s.y_true, prediction)
        assert type(score) is float
        assert math.isfinite(score)


@every_case
def test_the_order_of_rows_does_not_matter(name, kind, columns):
    s = sample(name, kind, columns, seed=2)
    rows = np.random.default_rng(3).permutation(ROWS)

    shuffled = s.score(take(s.y_true, rows), take(s.y_pred, rows))

    assert shuffled == pytest.approx(s.score(s.y_true, s.y_pred), rel=1e-12, abs=1e-12)


@every_case
@pytest.mark.parametrize("seed", range(10, 15))
def test_a_perfect_prediction_beats_a_noisy_one_in_the_direction_of_the_name(
    name, kind, columns, seed
):
    s = sample(name, kind, columns, seed)
    perfect, noisy = s.score(s.y_true, s.y_true), s.score(s.y_true, s.y_pred)

    assert perfect > noisy if higher_is_better(name) else perfect < noisy


@every_case
def test_one_wrong_row_never_scores_better_than_none(name, kind, columns):
    s = sample(name, kind, columns, seed=20)
    rows = np.arange(ROWS)
    perfect = s.score(s.y_true, s.y_true)

    for row in range(ROWS):
        copied = rows.copy()
        copied[row] = (row + 1) % ROWS
        almost = s.score(s.y_true, take(s.y_true, copied))
        worse_by = perfect - almost if higher_is_better(name) else almost - perfect
        assert worse_by >= -1e-12


@every_case
def test_a_constant_prediction_has_a_finite_score(name, kind, columns):
    s = sample(name, kind, columns, seed=30)
    rows = np.zeros(ROWS, dtype=np.int64)

    assert math.isfinite(s.score(s.y_true, take(s.y_pred, rows)))


@pytest.mark.parametrize(("name", "columns"), [(n, c) for n, kind, c in CASES if kind == "number"])
@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e160, 1.7e308])
def test_every_finite_number_has_a_finite_score(name, columns, size):
    s = sample(name, "number", columns, seed=40)
    signs = np.random.default_rng(41).choice([0.0, 1.0, -1.0], s.y_true.shape)
    low = METRICS[name].minimum

    score = s.score(s.y_true, np.maximum(signs * size, -np.inf if low is None else low))

    assert type(score) is float
    assert math.isfinite(score)


LARGEST = sys.float_info.max
# Values that a valid file may hold: extreme, denormal, and few enough that ties are common.
ELEMENTS = {
    "number": st.one_of(
        st.sampled_from([0.0, -0.0, 5e-324, 2e-308, 1.0, 1e155, -1e155, LARGEST, -LARGEST]),
        st.floats(allow_nan=False, allow_infinity=False),
    ),
    "probability": st.one_of(
        st.sampled_from([0.0, -0.0, 5e-324, 1e-320, 2e-308, 0.5, 1 - 2**-53, 1.0]),
        st.floats(0, 1),
    ),
    "integer": st.sampled_from([0.0, -0.0, 1.0, -1.0, 6.0, 2.0**53, -1e155, LARGEST]),
}

# A few values, and which of them is in each row; without that, it is decided by the answer. Made
# once, and with one draw for all rows: Hypothesis takes longer to draw than a metric to score.
COLUMNS = {
    kind: st.tuples(
        st.lists(values, min_size=1, max_size=4),
        st.none() | st.binary(min_size=ROWS, max_size=ROWS),
    )
    for kind, values in ELEMENTS.items()
}


@pytest.mark.parametrize(("name", "kind", "columns"), [c for c in CASES if c[1] in ELEMENTS])
@settings(max_examples=examples(40), deadline=None)
@given(choice=st.data())
def test_no_valid_file_is_without_a_finite_score(name, kind, columns, choice):
    s = sample(name, kind, columns, seed=50)
    few, places = choice.draw(COLUMNS[kind])
    if places is None:
        first = s.y_true if columns == 1 else s.y_true[:, 0]
        column = np.where(first == first.max(), few[0], few[-1])
    else:
        column = np.array([few[place % len(few)] for place in places])
    least = METRICS[name].minimum
    column = column if least is None else np.maximum(column, least)
    y_pred = column if columns == 1 else np.column_stack([column, column[::-1], column])

    assert math.isfinite(s.score(s.y_true, y_pred))


@every_metric
def test_it_takes_only_kinds_that_are_known(name):
    assert METRICS[name].kinds
    assert METRICS[name].kinds <= KINDS


@every_metric
def test_the_direction_is_that_of_the_name(name):
    assert METRICS[name].name == METRICS[name].function.__name__ == name
    assert METRICS[name].higher_is_better is name.endswith(("_score", "_corrcoef"))
    assert METRICS[name].higher_is_better is not name.endswith(("_error", "_loss"))


@every_metric
def test_a_parameter_it_does_not_have_is_rejected_by_name(name):
    parameters = {**required_parameters(METRICS[name]), "no_such": 1}

    with pytest.raises(ValueError, match=rf"{name}: there is no parameter 'no_such'; parameters:"):
        bind(name, parameters)


@every_metric
def test_a_value_of_the_wrong_type_is_rejected_by_name(name):
    for parameter in METRICS[name].parameters:
        with pytest.raises(ValueError, match=rf"{name}: .*{parameter} = "):
            bind(name, {**required_parameters(METRICS[name]), parameter: object()})


@every_metric
def test_a_bound_metric_travels_to_another_process(name):
    bound = bind(name, required_parameters(METRICS[name]))

    again = pickle.loads(pickle.dumps(bound))

    assert isinstance(again, functools.partial)
    assert isinstance(bound, functools.partial)
    assert again.func is METRICS[name].function
    assert again.keywords == bound.keywords


def test_there_are_samples_of_every_kind():
    assert set(MAKERS) == KINDS
