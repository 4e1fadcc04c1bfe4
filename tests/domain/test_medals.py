"""The medal rule, against the text of Kaggle's rule and against 82 real boards."""

import csv
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.leaderboard import Leaderboard
from app.domain.medals import MedalPlaces, MedalRule, medal_places

BOARDS = list(csv.DictReader((Path(__file__).parent / "medal_lines.csv").read_text().splitlines()))
SLUGS = [board["slug"] for board in BOARDS]


def share(teams: int, per_cent: int) -> int:
    return int(Fraction(per_cent, 100) * teams)


def places_by_the_text(teams: int) -> tuple[int, int, int]:
    """Kaggle's table in exact fractions: the slow and obvious way."""
    extra = int(Fraction(teams, 500))
    if teams < 100:
        return share(teams, 10), share(teams, 20), share(teams, 40)
    if teams < 250:
        return 10, share(teams, 20), share(teams, 40)
    if teams < 1000:
        return 10 + extra, 50, 100
    return 10 + extra, share(teams, 5), share(teams, 10)


def test_the_figures_of_all_82_boards_are_here():
    assert len(BOARDS) == 82
    assert sum(int(board["teams"]) for board in BOARDS) == 102_850


@pytest.mark.parametrize("board", BOARDS, ids=SLUGS)
def test_it_finds_the_cut_places_of_a_real_board(board):
    places = medal_places(int(board["teams"]))

    assert places == MedalPlaces(
        int(board["gold_place"]), int(board["silver_place"]), int(board["bronze_place"])
    )


@pytest.mark.parametrize("board", BOARDS, ids=SLUGS)
def test_it_finds_the_published_lines_of_a_real_board(board):
    teams = int(board["teams"])
    middle = [float(score) for score in board["middle_scores"].split()]
    assert len(middle) == 2 - teams % 2
    # A board with the same scores at the places that matter, and level in between.
    scores = [float(board["gold_place_score"])] * int(board["gold_place"])
    scores += [float(board["silver_place_score"])] * (int(board["silver_place"]) - len(scores))
    scores += [float(board["bronze_place_score"])] * (int(board["bronze_place"]) - len(scores))
    scores += [middle[0]] * (teams // 2 + teams % 2 - len(scores))
    scores += [middle[-1]] * (teams - len(scores))

    lines = Leaderboard.full(scores, higher_is_better=board["direction"] == "maximize").lines

    assert (lines.gold, lines.silver, lines.bronze, lines.median) == tuple(
        float(board[line]) for line in ("gold", "silver", "bronze", "median")
    )


@settings(deadline=None)
@given(st.integers(min_value=1, max_value=10**7))
def test_it_equals_the_rule_in_fractions_for_any_number_of_teams(teams):
    places = medal_places(teams, MedalRule.KAGGLE)

    assert (places.gold, places.silver, places.bronze) == places_by_the_text(teams)


@pytest.mark.parametrize("teams", [99, 100, 249, 250, 499, 500, 999, 1000])
def test_it_changes_its_row_of_the_table_at_the_right_team(teams):
    places = medal_places(teams)

    assert (places.gold, places.silver, places.bronze) == places_by_the_text(teams)


@pytest.mark.parametrize(
    ("teams", "kaggle", "mle_bench"),
    [
        (1, (0, 0, 0), (1, 1, 1)),
        (2, (0, 0, 0), (1, 1, 1)),
        (3, (0, 0, 1), (1, 1, 1)),
        (4, (0, 0, 1), (1, 1, 1)),
        (5, (0, 1, 2), (1, 1, 2)),
        (9, (0, 1, 3), (1, 1, 3)),
        (10, (1, 2, 4), (1, 2, 4)),
    ],
)
def test_the_two_rules_differ_below_ten_teams_only(teams, kaggle, mle_bench):
    assert medal_places(teams, MedalRule.KAGGLE) == MedalPlaces(*kaggle)
    assert medal_places(teams, MedalRule.MLE_BENCH) == MedalPlaces(*mle_bench)


@settings(deadline=None)
@given(st.integers(min_value=10, max_value=10**6))
def test_the_two_rules_agree_from_ten_teams_on(teams):
    assert medal_places(teams, MedalRule.KAGGLE) == medal_places(teams, MedalRule.MLE_BENCH)


@settings(deadline=None)
@given(st.integers(min_value=1, max_value=10**6), st.sampled_from(MedalRule))
def test_a_better_medal_never_has_more_places(teams, rule):
    places = medal_places(teams, rule)

    assert 0 <= places.gold <= places.silver <= places.bronze <= teams


@pytest.mark.parametrize("teams", [0, -1])
def test_it_refuses_a_board_without_teams(teams):
    with pytest.raises(ValueError, match="at least one team"):
        medal_places(teams)
