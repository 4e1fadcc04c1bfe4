"""Scores against a baseline that the competition declares, or that somebody gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.domain.baseline import Baseline
from app.domain.competition import parse_competition
from app.services.results.baseline_comparison import BaselineComparison
from app.services.runtime.catalogue import CatalogueEntry
from tests.factories import write_competition
from tests.storage.make import World

GIVEN = Baseline(score=2.0, source="starter code")
DECLARED = '[baseline]\nscore = 0.5\nsource = "starter code"\nsuccess_threshold = 0.2\n'


def entry_of(here: World, folder: Path, toml: str) -> CatalogueEntry:
    text = (write_competition(folder, toml=toml) / "competition.toml").read_text()
    return CatalogueEntry(here.version, parse_competition("bikes", text), None, None)


@pytest.mark.parametrize(
    ("toml", "threshold", "improvement", "success", "best", "ever", "limit"),
    [
        # The metric is an error. Declared: 0.4 improves on 0.5 by 0.2, which is not more than 0.2.
        (DECLARED, None, 0.2, False, 0.5, True, 0.2),
        (DECLARED, 0.1, 0.2, True, 0.5, True, 0.1),
        ("", None, 0.8, True, 0.875, True, 0.1),  # given: 0.4 improves on 2.0 by 0.8
        ("", 0.8, 0.8, False, 0.875, True, 0.8),
    ],
)
def test_a_declared_baseline_counts_before_a_given_one(
    here: World, tmp_path: Path, toml: str, threshold: float | None,
    improvement: float, best: float, limit: float, *, success: bool, ever: bool,
) -> None:  # fmt: skip
    entry = entry_of(here, tmp_path / "bikes", toml)
    compare = BaselineComparison(threshold, {"bikes": GIVEN})

    found = compare(entry, "bikes", 0.4, 0.25)

    assert (found["improvement"], found["success"]) == (improvement, success)
    assert (found["best_improvement"], found["ever"]) == (best, ever)
    assert (found["threshold"], found["higher_is_better"]) == (limit, False)


def test_what_is_not_known_is_no_success(here: World, tmp_path: Path) -> None:
    entry = entry_of(here, tmp_path / "bikes", "")
    compare = BaselineComparison(None, {"bikes": GIVEN})

    unscored = compare(entry, "bikes", None, None)
    assert (unscored["baseline"], unscored["improvement"]) == (GIVEN, None)
    assert (unscored["success"], unscored["ever"]) == (False, False)
    # Without a baseline, or without the version that tells the direction, nothing is compared.
    for found in (compare(entry, "leaves", 0.1, 0.1), compare(None, "bikes", 0.1, 0.1)):
        assert (found["baseline"], found["threshold"], found["improvement"]) == (None, None, None)
        assert (found["success"], found["ever"]) == (False, False)
