"""The specification of each kind of picture, compared with the one that is kept here.

A change of a chart, or of Altair, shows as a difference of `tests/pictures/golden`. If it is
meant, `PODIUM_REWRITE_GOLDEN=1 .venv/bin/pytest tests/pictures/test_golden.py` writes the files
anew; look at the difference, and at the pictures, before you commit it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from app.pictures.charts import CHARTS, chart
from app.pictures.picture import COLUMNS, Picture

GOLDEN = Path(__file__).parent / "golden"
REWRITES = os.environ.get("PODIUM_REWRITE_GOLDEN") == "1"
RATES = {"any_medal": 60.0, "low": 41.5, "high": 76.25, "gold": 30.0, "silver": 20.0,
         "bronze": 10.0}  # fmt: skip
STATES = ("gold", "silver", "bronze", "above_median", "valid", "rejected", "nothing", "failed",
          "pending", "missing")  # fmt: skip
VALUES: dict[str, dict[str, Any]] = {
    "medal-rates": {"rows": [
        {"experiment": "first agent", **RATES},
        {"experiment": "one seed only", **RATES, "low": None, "high": None}]},
    "leaderboard": {
        "metric": "root_mean_squared_error (lower is better)",
        "board": [{"place": place, "score": 0.1 * place} for place in range(1, 6)],
        "medal_lines": [{"line": "gold", "score": 0.1}, {"line": "median", "score": 0.3}],
        "attempts": [{"experiment": "first agent", "place": 2, "score": 0.15},
                     {"experiment": "first agent", "place": 6, "score": 1e9},
                     {"experiment": "others", "place": 5, "score": 0.5}]},
    "medals-over-time": {"axis": "hours", "rows": [
        {"choice": choice, "at": at, "any_medal": 10.0 * at + number, "low": 5.0 * at,
         "high": 20.0 * at}
        for number, choice in enumerate(("last", "selected", "best-public", "oracle"))
        for at in (1.0, 2.0)]},
    "comparison": {"a": "first agent", "b": "second agent", "rate": "any medal", "rows": [
        {"competition": "bikes", "a": 100.0, "b": 0.0},
        {"competition": "whales", "a": 33.25, "b": 66.5}]},
    "cost": {"rows": [
        {"experiment": "first agent", "cost": 1.5, "any_medal": 40.0, "low": 20.0, "high": 61.0},
        {"experiment": "one seed only", "cost": 12.0, "any_medal": 60.0, "low": None,
         "high": None}]},
    "heat-map": {"rows": [
        {"competition": "bikes", "seed": seed, "state": state}
        for seed, state in enumerate(STATES)]},
}  # fmt: skip


@pytest.mark.parametrize("kind", sorted({*COLUMNS} - {"leaderboard"}))
def test_a_picture_without_rows_has_the_same_columns_as_csv(kind: str) -> None:
    empty, drawn = (
        Picture(kind, "t", "c", {"rows": rows}).csv() for rows in ([], VALUES[kind]["rows"])
    )

    assert empty.decode().splitlines() == drawn.decode().splitlines()[:1]


def test_every_kind_has_a_golden_file() -> None:
    assert set(VALUES) == set(CHARTS)
    if not REWRITES:
        assert {path.name for path in GOLDEN.iterdir()} == {f"{kind}.vl.json" for kind in CHARTS}


@pytest.mark.parametrize("kind", sorted(CHARTS))
def test_a_specification_is_the_golden_one(kind: str) -> None:
    data = Picture(kind, "A title", "2 seeds; nothing is missing.", VALUES[kind]).data
    made = json.dumps(chart(kind, data).to_dict(), ensure_ascii=False, indent=1) + "\n"
    file = GOLDEN / f"{kind}.vl.json"
    if REWRITES:
        GOLDEN.mkdir(exist_ok=True)
        file.write_text(made, encoding="utf-8")

    assert json.loads(made) == json.loads(file.read_text(encoding="utf-8"))
