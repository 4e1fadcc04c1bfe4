"""Scores that contradict the competition's declaration are refused, with both values."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.domain.competition import Competition, parse_competition
from app.services.experiments.reported_scores import (
    NewScore,
    ScoreContradicts,
    refuse_contradictions,
    refuse_negative,
)
from tests.factories import write_competition


@pytest.fixture
def declared(tmp_path: Path):
    def declare(metric: str, baseline: float | None = None) -> Competition:
        toml = "" if baseline is None else f'[baseline]\nscore = {baseline}\nsource = "a test"\n'
        folder = write_competition(tmp_path / "tiny", metric=metric, toml=toml)
        return parse_competition("tiny", (folder / "competition.toml").read_text())

    return declare


def refused(competition: Competition, score: float, **claims: float | bool) -> bool:
    try:
        refuse_contradictions(competition, NewScore(score, {}, **claims))
    except ScoreContradicts:
        return True
    return False


def test_the_direction_is_that_of_the_metric(declared) -> None:
    lower, higher = declared("mean_absolute_error"), declared("r2_score")

    for competition, is_higher in ((lower, False), (higher, True)):
        assert not refused(competition, 0.5, higher_is_better=is_higher)
        assert refused(competition, 0.5, higher_is_better=not is_higher)
        assert not refused(competition, 0.5)
        said, declares = ("lower", "higher") if is_higher else ("higher", "lower")
        with pytest.raises(ScoreContradicts, match=f"says that {said} .* declares that {declares}"):
            refuse_contradictions(competition, NewScore(0.5, {}, higher_is_better=not is_higher))
        with pytest.raises(ScoreContradicts, match="no baseline other than 0"):
            refuse_contradictions(competition, NewScore(0.5, {}, improvement=0.5))
    with pytest.raises(ScoreContradicts, match=r"negative, and in .* lower is better"):
        refuse_contradictions(lower, NewScore(-0.5, {}))


def test_an_improvement_is_a_share_of_the_baseline(declared) -> None:
    lower = declared("mean_absolute_error", baseline=0.5)
    assert not refused(lower, 0.25, improvement=0.5)
    assert not refused(lower, 0.25, improvement=0.5 + 1e-10)
    assert refused(lower, 0.25, improvement=-0.5)  # the direction was turned around
    assert refused(lower, 0.25, improvement=0.51)
    higher = declared("r2_score", baseline=0.5)
    assert not refused(higher, 0.25, improvement=-0.5)
    assert refused(higher, 0.25, improvement=0.5)


@pytest.mark.parametrize("baseline", [None, 0.0])
def test_without_a_baseline_there_is_no_improvement(declared, baseline: float | None) -> None:
    competition = declared("mean_absolute_error", baseline)

    assert not refused(competition, 0.25)
    assert refused(competition, 0.25, improvement=0.5)


def test_a_negative_error_is_a_negated_score_or_no_score(declared) -> None:
    for score, metric, baseline, is_refused in (
        (-1.0, "mean_absolute_error", None, True),
        (-1.0, "mean_absolute_error", 0.5, True),
        (-1.0, "mean_absolute_error", 0.0, True),
        (0.0, "mean_absolute_error", 0.5, False),
        (-1.0, "mean_absolute_error", -2.0, False),
        (-1.0, "r2_score", None, False),
    ):
        competition = declared(metric, baseline)
        if is_refused:
            with pytest.raises(ScoreContradicts, match="is negative"):
                refuse_negative(competition, score)
        else:
            refuse_negative(competition, score)
