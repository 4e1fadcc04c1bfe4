"""The sentence of a comparison for a difference that chance explains."""

from __future__ import annotations

import pytest

from app.reports.comparison_sentence import comparison_sentence
from app.statistics.attempts import Grid, make_grid
from app.statistics.comparison import compare
from tests.statistics.make import attempt


def grid(medals: list[str | None]) -> Grid:
    """One attempt at each competition."""
    attempts = [attempt(f"c{n}", 0, medal) for n, medal in enumerate(medals)]
    return make_grid(attempts, {each.competition for each in attempts})


@pytest.mark.parametrize(
    ("medals", "said"),
    [
        (["gold", None], "cannot show any difference with a power of 80 %"),
        ([*["gold", None] * 8, *[None] * 30], "would be found in 80 % of such comparisons"),
    ],
)
def test_what_could_have_been_found(medals: list[str | None], said: str) -> None:
    a, b = grid(medals), grid(medals[::-1])
    found = compare(a, b)
    assert found.detectable is not None
    assert (found.detectable > 100) == ("any difference" in said)
    sentence = comparison_sentence("a", "b", found, "any_medal")
    assert said in sentence
    assert "cannot be told from chance" in sentence


def test_one_competition_is_not_called_several() -> None:
    found = compare(grid(["gold"]), grid([None]))
    assert "One competition shows no spread" in comparison_sentence("a", "b", found, "any_medal")


def test_who_is_ahead_by_how_much_and_that_it_is_more_than_chance() -> None:
    good, bad = grid([*["gold"] * 7, None]), grid([None] * 8)
    words = "by 87.5 points of any medal over 8 competitions"
    more = "95 % interval: 57.9 to 100.0 points. The difference is more than chance."

    ours = comparison_sentence("a", "b", compare(good, bad), "any_medal")
    theirs = comparison_sentence("a", "b", compare(bad, good), "any_medal")

    assert ours == f"a is ahead of b {words} (87.5 % for a, 0.0 % for b). {more}"
    assert theirs == f"b is ahead of a {words} (0.0 % for a, 87.5 % for b). {more}"


def test_equal_differences_have_no_interval() -> None:
    good, bad = grid(["gold"] * 3), grid([None] * 3)

    assert comparison_sentence("a", "b", compare(good, bad), "gold").endswith(
        "The competitions show no spread, so no interval is known."
    )
    assert comparison_sentence("a", "b", compare(bad, bad), "gold").startswith(
        "a and b have the same rate of gold, 0.0 %, over 3 competitions."
    )


def test_who_is_ahead_by_less_than_a_point_is_ahead() -> None:
    ours, theirs = grid(["gold", *[None] * 199]), grid([None] * 200)

    sentence = comparison_sentence("a", "b", compare(ours, theirs), "any_medal")

    assert sentence.startswith("a is ahead of b by 0.5 points of any medal")
    assert (
        "95 % interval: -0.5 to 1.5 points. The difference cannot be told from chance." in sentence
    )
    few, none = grid([*["gold"] * 4, *[None] * 14]), grid([None] * 18)
    assert comparison_sentence("a", "b", compare(few, none), "any_medal").endswith(
        "95 % interval: 0.9 to 43.5 points. The difference is more than chance."
    )
