"""Medals over run time and selection regret, worked by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.medals import Medal
from app.statistics.intervals import over_runs
from app.statistics.medals_over_time import (
    Choice,
    RunHistory,
    TimedSubmission,
    chosen,
    medals_over,
)
from app.statistics.selection import selection_regret

COURSE = RunHistory(
    "a", 0, higher_is_better=False,
    sent=(
        TimedSubmission(1.0, 0.50, 0.40, None),
        TimedSubmission(2.0, 0.20, 0.45, Medal.GOLD),
        TimedSubmission(3.0, 0.30, 0.10, Medal.BRONZE),
        TimedSubmission(4.0, 0.60, 0.20, None, selected=True),
    ),
)  # fmt: skip
EMPTY = RunHistory("b", 0, higher_is_better=True, sent=())


def test_each_choice_at_each_hour() -> None:
    def scores(choice: Choice) -> list[float | None]:
        found = [chosen(COURSE, choice, hour) for hour in (0.5, 1, 2, 3, 4)]
        return [None if each is None else each.score for each in found]

    assert scores(Choice.LAST) == [None, 0.5, 0.2, 0.3, 0.6]
    assert scores(Choice.SELECTED) == [None, 0.5, 0.2, 0.3, 0.6]
    assert scores(Choice.BEST_PUBLIC) == [None, 0.5, 0.5, 0.3, 0.3]
    assert scores(Choice.ORACLE) == [None, 0.5, 0.2, 0.2, 0.2]


def test_a_selected_file_that_is_not_valid_counts_as_none_from_then_on() -> None:
    run = RunHistory("a", 0, True, (TimedSubmission(1.0, 0.9, 0.9, Medal.GOLD),), invalid_from=2.0)
    assert [chosen(run, Choice.SELECTED, at) for at in (1.9, 2.0, 3.0)] == [run.sent[0], None, None]
    assert chosen(run, Choice.SELECTED) is None
    for choice in (Choice.LAST, Choice.BEST_PUBLIC, Choice.ORACLE):
        assert chosen(run, choice, 3.0) == run.sent[0]


@pytest.mark.parametrize("higher", [True, False])
def test_the_oracle_takes_the_best_medal_then_the_best_score(higher: bool) -> None:
    """From the worst to the best: the medal decides before the score, whatever its sign."""
    sign = 1.0 if higher else -1.0
    ranked = [
        TimedSubmission(1.0, sign * score, None, medal)
        for medal in (None, Medal.BRONZE, Medal.SILVER, Medal.GOLD)
        for score in (-2.0, 0.0, 2.0, 4.0)
    ]
    for worse, better in combinations(ranked, 2):
        assert chosen(RunHistory("a", 0, higher, (better, worse)), Choice.ORACLE) is better
        assert chosen(RunHistory("a", 0, higher, (worse, better)), Choice.ORACLE) is better


@pytest.mark.parametrize(("higher", "public"), [(False, [0.3, 0.0, 0.0]), (True, [-0.3, 0.0, 0.0])])
def test_of_equal_public_scores_the_earlier_one_is_chosen_and_0_is_a_score(higher, public) -> None:
    sent = tuple(TimedSubmission(at, 0.5, one, None) for at, one in enumerate(public))
    assert chosen(RunHistory("a", 0, higher, sent), Choice.BEST_PUBLIC) is sent[1]


def test_rates_over_time_need_not_rise_but_the_oracle_does() -> None:
    hours = [0.0, 1.0, 2.0, 3.0, 4.0]
    last = medals_over([COURSE, EMPTY], hours, Choice.LAST)
    assert [p.any_medal for p in last] == [0.0, 0.0, 50.0, 50.0, 0.0]
    assert [p.gold for p in last] == [0.0, 0.0, 50.0, 0.0, 0.0]
    oracle = [p.any_medal for p in medals_over([COURSE, EMPTY], hours, Choice.ORACLE)]
    assert oracle == sorted(oracle)


SENT = st.builds(
    TimedSubmission,
    at=st.sampled_from([0.0, 1.0, 1.5, 2.0, 4.0]),  # a clock that was set back disorders them
    score=st.sampled_from([0.1, 0.2]),
    public_score=st.sampled_from([None, 0.1, 0.2]),
    medal=st.sampled_from([None, *Medal]),
    selected=st.booleans(),
)
HISTORY = st.builds(
    RunHistory,
    competition=st.sampled_from("ab"),
    seed=st.just(0),
    higher_is_better=st.booleans(),
    sent=st.lists(SENT, max_size=5).map(tuple),
    invalid_from=st.sampled_from([None, 0.5, 2.0, 9.0]),
)


@settings(deadline=None)
@given(
    histories=st.lists(HISTORY, min_size=1, max_size=6),
    moments=st.sets(st.sampled_from([0.0, 0.5, 1.0, 1.7, 2.0, 3.0, 5.0]), min_size=1).map(sorted),
    choice=st.sampled_from(Choice),
)
def test_each_moment_has_the_medals_of_what_each_run_would_choose_then(
    histories: list[RunHistory], moments: list[float], choice: Choice
) -> None:
    for point in medals_over(histories, moments, choice):
        medals: dict[str, list[Medal | None]] = {}
        for history in histories:
            sent = chosen(history, choice, point.at)
            medals.setdefault(history.competition, []).append(sent and sent.medal)
        won = [np.mean([one is not None for one in each]) for each in medals.values()]
        gold = [np.mean([one is Medal.GOLD for one in each]) for each in medals.values()]
        assert point.any_medal == pytest.approx(100 * np.mean(won))
        assert point.gold == pytest.approx(100 * np.mean(gold))


def test_regret() -> None:
    found = selection_regret([COURSE, EMPTY])
    assert (found.choice, found.oracle, found.regret) == (0.0, 50.0, 50.0)
    assert found.runs_that_lost_a_medal == 1
    assert selection_regret([COURSE], Choice.BEST_PUBLIC).regret == 0.0


def test_without_public_scores_the_last_one_stands() -> None:
    course = RunHistory(
        "a",
        0,
        True,
        (TimedSubmission(1.0, 0.9, None, Medal.GOLD), TimedSubmission(2.0, 0.1, None, None)),
    )
    assert chosen(course, Choice.BEST_PUBLIC) == course.sent[1]
    assert chosen(EMPTY, Choice.BEST_PUBLIC) is None


def test_bands_hold_the_curve_and_are_those_of_rates() -> None:
    other = RunHistory("a", 1, False, (TimedSubmission(1.0, 0.1, None, Medal.GOLD),))
    third = RunHistory("b", 1, True, ())
    points = medals_over([COURSE, other, EMPTY, third], [0.0, 2.0], Choice.ORACLE)
    for point in points:
        for low, high in (point.any_medal_runs95, point.any_medal_competitions95):
            assert 0 <= low <= point.any_medal <= high <= 100
            assert low < high
    shares, attempts = np.array([[1.0], [0.0]]), np.array([2, 2])
    assert points[1].any_medal_runs95 == pytest.approx(
        tuple(100 * over_runs(shares, attempts).interval[:, 0])
    )
    alone = medals_over([COURSE], [1.0], Choice.LAST)[0]
    assert (alone.any_medal_runs95, alone.any_medal_competitions95) == (None, None)
