import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.leaderboard import Leaderboard, MedalLines
from app.domain.lint import LintCode, lint_leaderboard, lint_lines
from app.domain.medals import MedalRule

CLEAN = [1.0 - i / 1000 for i in range(200)]  # 200 teams, no tie, best first, higher is better


def codes(findings):
    return [finding.code.value for finding in findings]


def message(findings, code):
    (found,) = [finding.message for finding in findings if finding.code.value == code]
    return found


def test_a_good_board_has_no_finding():
    assert lint_leaderboard(CLEAN, higher_is_better=True) == []
    assert lint_leaderboard(CLEAN[::-1], higher_is_better=False) == []


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_a_score_that_is_not_finite_is_an_error_with_its_row(bad):
    (finding,) = lint_leaderboard([*CLEAN[:4], bad, 0.1, bad], higher_is_better=True)

    assert (finding.code, finding.severity) == (LintCode.NON_FINITE, "error")
    assert finding.message == f"row 5 and 1 more: {bad!r} is not a finite score"


def test_a_board_sorted_worst_first_is_an_error():
    (finding,) = lint_leaderboard(CLEAN, higher_is_better=False)

    assert (finding.code, finding.severity) == (LintCode.DIRECTION, "error")
    assert "lower is better" in finding.message


def test_a_board_sorted_worst_first_but_for_a_row_is_an_error_too():
    scores = [*CLEAN[::-1][:100], 0.3, *CLEAN[::-1][100:]]

    assert codes(lint_leaderboard(scores, higher_is_better=True)) == ["direction"]


@pytest.mark.parametrize(("wrong", "found"), [(9, "direction"), (8, "unsorted")])
def test_nine_steps_up_for_one_down_are_the_wrong_direction(wrong, found):
    scores = [0.5, *[0.1 + i / 100 for i in range(wrong + 1)]]

    assert codes(lint_leaderboard(scores, higher_is_better=True))[0] == found


def test_a_board_of_equal_scores_has_no_direction():
    assert "direction" not in codes(lint_leaderboard([0.5] * 40, higher_is_better=True))


def test_a_row_out_of_order_is_a_warning_that_names_it():
    scores = [*CLEAN[:50], 0.999, *CLEAN[50:]]

    findings = lint_leaderboard(scores, higher_is_better=True)

    assert codes(findings) == ["unsorted"]
    assert findings[0].severity == "warning"
    assert "1 row is better than the row before, the first of them row 51" in findings[0].message
    assert f"({scores[49]!r}, then {scores[50]!r})" in findings[0].message


def test_999999_at_the_bad_end_is_a_sentinel():
    findings = lint_leaderboard(
        [i / 10 for i in range(19)] + [999999.0] * 34, higher_is_better=False
    )

    assert "sentinel_scores" in codes(findings)
    assert "34 teams have the worst score, 999999.0" in message(findings, "sentinel_scores")
    assert "the next is 1.8" in message(findings, "sentinel_scores")
    assert "all 53 teams" in message(findings, "sentinel_scores")


@pytest.mark.parametrize("mark", [9999.0, 99999999.0, 1e6, 1.7976931348623157e308])
def test_one_team_with_a_usual_mark_is_a_sentinel(mark):
    scores = [*CLEAN[::-1], mark]

    assert codes(lint_leaderboard(scores, higher_is_better=False)) == ["sentinel_scores"]


def test_minus_one_is_a_sentinel_where_all_other_scores_are_positive():
    assert codes(lint_leaderboard([*CLEAN, -1.0], higher_is_better=True)) == ["sentinel_scores"]
    with_zero = [*CLEAN, 0.0, -1.0]
    assert "sentinel_scores" in codes(lint_leaderboard(with_zero, higher_is_better=True))


def test_minus_one_is_a_score_where_others_are_negative():
    scores = [i / 500 for i in range(200, -260, -1)] + [-1.0]

    assert lint_leaderboard(scores, higher_is_better=True) == []


def test_an_unknown_mark_shared_by_two_and_far_from_all_is_a_sentinel():
    scores = [*CLEAN[::-1], 4711.5, 4711.5]

    assert codes(lint_leaderboard(scores, higher_is_better=False)) == ["sentinel_scores"]


@pytest.mark.parametrize(("spread", "gap", "found"), [(0.2, 5.0, True), (100.0, 500.0, False)])
def test_far_away_is_ten_times_the_spread_of_the_others(spread, gap, found):
    others = [spread * i / 39 for i in range(40)]
    scores = [*others, spread + gap, spread + gap]

    assert ("sentinel_scores" in codes(lint_leaderboard(scores, higher_is_better=False))) == found


def test_one_very_bad_team_is_no_sentinel():
    assert lint_leaderboard([*CLEAN[::-1], 24987861.69584], higher_is_better=False) == []


def test_many_teams_at_the_bottom_are_told():
    scores = [*[1.0 - i / 100 for i in range(80)], *[0.0] * 120]

    findings = lint_leaderboard(scores, higher_is_better=True)

    assert codes(findings) == ["shared_worst_score"]
    assert findings[0].message.startswith("120 teams have the worst score, 0.0, 60 % of the 200")


@pytest.mark.parametrize(("teams", "found"), [(100, True), (101, False)])
def test_a_tenth_of_the_teams_are_many(teams, found):
    scores = [*[1.0 - i / 1000 for i in range(teams - 10)], *[0.5] * 10]

    assert ("shared_worst_score" in codes(lint_leaderboard(scores, higher_is_better=True))) == found


def test_the_single_worst_team_of_a_small_board_shares_its_score_with_nobody():
    assert "shared_worst_score" not in codes(
        lint_leaderboard([0.3, 0.2, 0.1], higher_is_better=True)
    )


def test_ties_beyond_a_cut_are_counted_for_each_medal():
    # 200 teams: 10, 40 and 80 places
    scores = [*CLEAN[:8], *[0.99] * 4, *CLEAN[12:79], *[0.9] * 4]
    scores += [0.8 - i / 1000 for i in range(117)]

    findings = lint_leaderboard(scores, higher_is_better=True)

    assert len(scores) == 200
    assert codes(findings) == ["ties_at_cut"]
    assert "12 instead of 10 reach gold, 83 instead of 80 reach bronze" in findings[0].message


def test_ties_within_the_places_are_no_finding():
    assert lint_leaderboard([0.999, 0.999, *CLEAN[2:]], higher_is_better=True) == []


def test_equal_medal_lines_are_told():
    findings = lint_leaderboard([1.0] * 90 + CLEAN[1:111], higher_is_better=True)

    assert "gold = silver, silver = bronze" in message(findings, "medal_lines_equal")
    assert "90 instead of 10 reach gold" in message(findings, "ties_at_cut")


def test_bronze_on_the_median_is_told():
    scores = [*CLEAN[:70], *[0.92] * 40, *CLEAN[110:]]

    assert "bronze line is the median, 0.92" in message(
        lint_leaderboard(scores, higher_is_better=True), "bronze_equals_median"
    )


@pytest.mark.parametrize(
    ("teams", "words"),
    [
        (1, "only 1 team: Kaggle's rule gives no gold and no silver and no bronze here"),
        (4, "only 4 teams: Kaggle's rule gives no gold and no silver here"),
        (9, "only 9 teams: Kaggle's rule gives no gold here"),
        (10, "only 10 teams: one team more or less"),
        (29, "only 29 teams"),
    ],
)
def test_a_small_board_is_told(teams, words):
    findings = lint_leaderboard(CLEAN[:teams], higher_is_better=True)

    assert words in message(findings, "few_teams")


def test_thirty_teams_are_enough():
    assert lint_leaderboard(CLEAN[:30], higher_is_better=True) == []


def test_a_board_needs_a_score():
    with pytest.raises(ValueError, match="at least one score"):
        lint_leaderboard([], higher_is_better=True)


def test_good_lines_have_no_finding():
    lines = MedalLines(0.36367, 0.39010, 0.40856, 0.49644)

    assert lint_lines(lines, teams=3242, higher_is_better=False) == []


@pytest.mark.parametrize(
    "lines",
    [
        MedalLines(0.36, 0.39, 0.40, 0.49),
        MedalLines(None, None, 0.40, 0.49),
        MedalLines(0.9, 0.8, 0.7, 0.75),
    ],
)
def test_lines_in_the_wrong_order_are_an_error(lines):
    (finding,) = lint_lines(lines, teams=1000, higher_is_better=True)

    assert (finding.code, finding.severity) == (LintCode.DIRECTION, "error")


def test_lines_say_when_bronze_is_the_median_and_lines_are_equal():
    lines = MedalLines(0.9, 0.5, 0.5, 0.5)

    assert codes(lint_lines(lines, teams=1000, higher_is_better=True)) == [
        "bronze_equals_median",
        "medal_lines_equal",
    ]


def test_lines_of_which_bronze_and_median_are_not_known_are_not_equal():
    lines = MedalLines(0.9, 0.8, None, None)

    assert lint_lines(lines, teams=1000, higher_is_better=True) == []


def test_lines_without_a_number_of_teams_are_told():
    lines = MedalLines(0.9, 0.8, 0.7, 0.5)

    assert codes(lint_lines(lines, teams=None, higher_is_better=True)) == ["teams_missing"]


def test_a_finding_has_a_form_for_json():
    (finding,) = lint_leaderboard(CLEAN[:20], higher_is_better=True)

    assert finding.as_dict() == {
        "code": "few_teams",
        "severity": "warning",
        "message": "only 20 teams: one team more or less moves the medal lines",
    }


@settings(deadline=None)
@given(
    st.lists(st.integers(-40, 40).map(float), min_size=1, max_size=60),
    st.booleans(),
    st.sampled_from(MedalRule),
)
def test_a_board_sorted_best_first_never_has_an_error(scores, higher, rule):
    best_first = sorted(scores, reverse=higher)

    findings = lint_leaderboard(best_first, higher_is_better=higher, rule=rule)

    assert all(finding.severity == "warning" for finding in findings)
    assert "unsorted" not in codes(findings)
    # What a full board says of its lines, the lines say alone.
    board = Leaderboard.full(scores, higher_is_better=higher, rule=rule)
    alone = lint_lines(board.lines, teams=board.teams, higher_is_better=higher, rule=rule)
    assert alone == [f for f in findings if f.code in {f.code for f in alone}]
