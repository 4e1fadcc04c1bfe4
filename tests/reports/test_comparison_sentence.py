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
