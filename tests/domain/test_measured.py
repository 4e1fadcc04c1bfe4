"""Competitions whose results a harness measures: what they declare, and what they may not."""

import pytest

from app.domain.competition import parse_competition
from tests.domain.test_competition import BIKE, BOARD, problems_of

SPEED = """
title = "Speed"
version = 1
[metric]
measured = true
name = "seconds_per_token"
higher_is_better = false
unit = "seconds"
harness = "a stopwatch"
"""
SUBMISSION = BIKE[BIKE.index("[submission]") :]


def test_it_declares_what_is_measured():
    competition = parse_competition("speed", SPEED)

    assert competition.is_measured
    assert competition.metric.name == "seconds_per_token"
    assert competition.metric.higher_is_better is False
    assert (competition.metric.unit, competition.metric.harness) == ("seconds", "a stopwatch")
    assert competition.metric.parameters == {}
    assert competition.submission is None
    up = SPEED.replace("higher_is_better = false", "higher_is_better = true")
    assert parse_competition("speed", up).metric.higher_is_better is True


def test_it_may_have_a_baseline():
    text = SPEED + '[baseline]\nscore = 6.0\nsource = "the starter code"\n'
    competition = parse_competition("speed", text)

    assert competition.against_baseline(3.0).improvement == 0.5
    assert competition.against_baseline(5.4).success is False
    assert competition.against_baseline(5.4, 0.09).success is True
    assert parse_competition("speed", SPEED).against_baseline(3.0) is None


def test_a_graded_one_is_not_measured():
    assert parse_competition("bike", BIKE).is_measured is False
    with pytest.raises(TypeError, match="speed is measured"):
        parse_competition("speed", SPEED).form  # noqa: B018


@pytest.mark.parametrize(
    ("text", "key", "message"),
    [
        (SPEED.replace('unit = "seconds"\n', ""), "metric.unit", "this key is required"),
        (SPEED.replace("harness", "# harness"), "metric.harness", "this key is required"),
        (SPEED.replace("higher", "# higher"), "metric.higher_is_better", "this key is required"),
        (SPEED.replace("false", '"no"'), "metric.higher_is_better", "true or false"),
        (SPEED + "parameters = {}\n", "metric.parameters", "unknown key"),
        (SPEED.replace("measured = true\n", ""), "metric.harness", "unknown key"),
        (SPEED.replace("measured = true", "measured = 1"), "metric.harness", "unknown key"),
        (SPEED + SUBMISSION, "submission", "nothing is submitted"),
        (SPEED + '[answers]\nfile = "a.csv"\n', "answers", "there are none"),
        (SPEED + BOARD, "leaderboard", "have no place"),
        (
            BIKE.replace('_error"', '_error"\nmeasured = false\nunit = "s"'),
            "metric.unit",
            "unknown",
        ),
    ],
)
def test_a_contradiction_is_named(text, key, message):
    found = problems_of(text)

    assert any(k == key and message in m for k, m in found), found
