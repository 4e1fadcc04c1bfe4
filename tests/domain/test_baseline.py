"""Improvement on a baseline and success against it: worked by hand, in both directions."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.baseline import Judgement, improvement, judge, succeeds
from app.domain.competition import parse_competition
from tests.domain.test_competition import BIKE, problems_of

UP = {"higher_is_better": True}
DOWN = {"higher_is_better": False}
LARGEST = 1.7976931348623157e308
SCORES = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("score", "baseline", "up", "expected"),
    [
        (0.6, 0.5, True, 0.2),  # 0.1 more on 0.5
        (0.4, 0.5, True, -0.2),
        (0.5, 0.5, True, 0.0),
        (0.6, 0.5, False, -0.2),
        (0.4, 0.5, False, 0.2),
        (0.0, 0.5, False, 1.0),  # an error of nothing: all of it gone
        (-6.0, -8.0, True, 0.25),  # both negative: 2 better, of 8
        (-10.0, -8.0, True, -0.25),
        (-10.0, -8.0, False, 0.25),
        (1.0, -2.0, True, 1.5),  # opposite signs: 3 better, of 2
        (1.0, -2.0, False, -1.5),
        (-1.0, 2.0, False, 1.5),
        (-1.0, 2.0, True, -1.5),
        (0.55, 0.5, True, 0.1),  # in doubles 0.55 - 0.5 is a hair more than 0.05
        (1e-10, 1e-10, True, 0.0),
        (0.3, 1e-10, True, 2999999999.0),
        (0.0, 1e-10, True, -1.0),
        (18000.0, 1e10, False, 0.9999982),
        (1e308, 1e-10, True, LARGEST),
        (-1e308, 1e-10, True, -LARGEST),
        (1.7e308, -1.7e308, True, 2.0),  # the difference alone would leave the range of a double
    ],
)
def test_improvement_is_the_difference_over_the_size_of_the_baseline(score, baseline, up, expected):
    assert improvement(score, baseline, higher_is_better=up) == expected


@settings(deadline=None)
@given(SCORES, SCORES.filter(bool))
def test_turning_the_direction_turns_the_sign(score, baseline):
    up = improvement(score, baseline, **UP)

    assert up == -improvement(score, baseline, **DOWN)
    assert math.isfinite(up)
    assert (up > 0) == (score > baseline) or up == 0
    assert up == improvement(-score, -baseline, **DOWN)


@pytest.mark.parametrize("direction", [UP, DOWN])
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_of_nothing_there_is_no_share(zero, direction):
    assert improvement(1.0, zero, **direction) is None


def test_against_a_baseline_of_0_success_is_being_strictly_better():
    assert judge(0.001, 0.0, 0.3, **UP) == Judgement(None, True)
    assert judge(0.0, 0.0, 0.3, **UP) == Judgement(None, False)
    assert judge(-1.0, 0.0, 0.3, **UP) == Judgement(None, False)
    assert judge(-1.0, 0.0, 0.3, **DOWN) == Judgement(None, True)
    assert judge(0.001, 0.0, 0.3, **DOWN) == Judgement(None, False)
    assert judge(0.0, 0.0, 0.3, **DOWN) == Judgement(None, False)


@settings(deadline=None)
@given(SCORES.filter(lambda s: abs(s) > 1e-300), st.sampled_from([UP, DOWN]))
def test_success_against_0_is_success_against_baselines_that_come_near_it(score, direction):
    near = judge(score, 5e-324, 0.3, **direction).success

    assert judge(score, 0.0, 0.3, **direction).success == near


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_refused(odd):
    with pytest.raises(ValueError, match="the score is"):
        improvement(odd, 1.0, **UP)
    with pytest.raises(ValueError, match="the baseline is"):
        improvement(1.0, odd, **UP)


@pytest.mark.parametrize("threshold", [0.05, 0.1, 0.15, 0.2, 0.3])
def test_a_success_improves_by_more_than_the_threshold(threshold):
    assert not succeeds(threshold, threshold)
    assert succeeds(math.nextafter(threshold, 1), threshold)
    assert not succeeds(-1.0, threshold)
    at = 0.5 + threshold * 0.5  # exactly the threshold more, as people write it
    assert not judge(round(at, 6), 0.5, threshold, **UP).success


def with_baseline(text):
    return f"{BIKE}\n[baseline]\n{text}"


def test_a_baseline_is_declared():
    found = parse_competition(
        "bike", with_baseline('score = 1e10\nsource = "nothing that works"')
    ).baseline

    assert (found.score, found.source, found.success_threshold) == (1e10, "nothing that works", 0.1)
    other = with_baseline('score = 0\nsource = "s"\nsuccess_threshold = 0.3')
    assert parse_competition("bike", other).baseline.success_threshold == 0.3


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('score = nan\nsource = "s"', "score"),
        ('score = inf\nsource = "s"', "score"),
        ('score = "0.5"\nsource = "s"', "score"),
        ('score = true\nsource = "s"', "score"),
        ('source = "s"', "score"),
        ("score = 0.5", "source"),
        ('score = 0.5\nsource = " "', "source"),
        ('score = 0.5\nsource = "s"\nsuccess_threshold = 0', "success_threshold"),
        ('score = 0.5\nsource = "s"\nsuccess_threshold = -0.1', "success_threshold"),
        ('score = 0.5\nsource = "s"\nsuccess_threshold = nan', "success_threshold"),
        ('score = 0.5\nsource = "s"\nsuccess_threshold = inf', "success_threshold"),
        ('score = 0.5\nsource = "s"\nhigher_is_better = true', "higher_is_better"),
    ],
)
def test_a_baseline_that_makes_no_sense_stops_the_import(text, key):
    assert [found[0] for found in problems_of(with_baseline(text))] == [f"baseline.{key}"]
