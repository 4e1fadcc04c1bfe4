"""Where only the medal lines of a board are known, its decimals are declared beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.domain.competition import TOML, parse_competition
from app.domain.medals import Medal
from app.domain.read_leaderboard import leaderboard_of

COMPETITIONS = Path(__file__).parents[2] / "competitions"
# A score with an exponent, whole numbers, and three decimals of 96 teams: none can be told.
NOT_TOLD = {
    "allstate-claims-severity", "imet-2020-fgvc7", "mercedes-benz-greener-manufacturing",
    "novozymes-enzyme-stability-prediction", "playground-series-s3e5",
    "predict-volcanic-eruptions-ingv-oe", "prudential-life-insurance-assessment",
    "tabular-playground-series-aug-2021",
}  # fmt: skip


def read(slug: str):
    return parse_competition(slug, (COMPETITIONS / slug / TOML).read_text(encoding="utf-8"))


WITH_LINES = sorted(
    folder.name
    for folder in COMPETITIONS.iterdir()
    if (folder / TOML).is_file() and "\ngold = " in (folder / TOML).read_text(encoding="utf-8")
)


@pytest.mark.parametrize("slug", WITH_LINES)
def test_the_lines_have_the_decimals_of_their_board(slug: str) -> None:
    declared = read(slug).leaderboard
    assert (declared.decimals is None) == (slug in NOT_TOLD)
    if declared.decimals is not None:
        for line in (declared.gold, declared.silver, declared.bronze):
            assert line == round(line, declared.decimals)


def test_a_score_that_the_board_shows_as_the_gold_line_wins_gold() -> None:
    competition = read("aerial-cactus-identification")
    board = leaderboard_of(competition, None)

    standing = board.standing(0.99999952)  # one wrong pair of 2,062,500

    assert (standing.decimals, standing.medal) == (4, Medal.GOLD)
    assert standing.borderline
    assert standing.unrounded_medal is None
