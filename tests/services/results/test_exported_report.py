"""The score that an exported report gives, so that its own lines lead to its medal."""

from __future__ import annotations

import pytest

from app.domain.leaderboard import Leaderboard, MedalLines
from app.domain.medals import Medal
from app.errors import NotFound
from app.services.results.exported_report import export_report, exported_score
from app.services.runtime.context import Context
from tests.services.results.make import add_imports, closed_run, import_medals
from tests.services.submissions.conftest import readable_version


def board(gold: float, *, decimals: int | None = None) -> Leaderboard:
    lines = MedalLines(gold=gold, silver=gold / 2, bronze=gold / 4, median=gold / 8)
    return Leaderboard.from_lines(lines, teams=None, higher_is_better=True, decimals=decimals)


@pytest.mark.parametrize(
    ("score", "gold", "medal", "exported"),
    [
        (0.912345678, 0.9, Medal.GOLD, 0.91235),
        (0.9000049, 0.900004, Medal.GOLD, 0.9000049),  # 0.90000 would win silver
        (0.899999, 0.9, Medal.SILVER, 0.899999),  # 0.90000 would win gold
        (0.112501, 0.9, None, 0.112501),  # 0.11250 would not be above the median
    ],
)
def test_a_score_is_rounded_unless_that_changes_its_medal(
    score: float, gold: float, medal: Medal | None, exported: float
) -> None:
    assert exported_score(score, board(gold), medal, above_median=True) == exported


def test_a_score_that_was_rounded_to_the_boards_decimals_is_exported_so() -> None:
    # On a board with 2 decimals 0.8951 is 0.90, which wins gold; 0.8951 itself would not.
    assert exported_score(0.8951, board(0.9, decimals=2), Medal.GOLD, above_median=True) == 0.9


def test_without_a_board_a_score_is_rounded() -> None:
    assert exported_score(0.123456789, None, None, above_median=False) == 0.12346


def test_a_report_counts_what_its_entries_say(context: Context) -> None:
    import_medals(context, "first", {"a": ["gold", None], "b": ["bronze"], "c": [None]})

    report = export_report(context, "first", 0)

    flags = [(one["gold_medal"], one["any_medal"]) for one in report["competition_reports"]]
    assert sorted(flags) == [(False, False), (False, True), (True, True)]
    totals = (report["total_runs"], report["total_medals"], report["total_gold_medals"])
    assert totals == (3, 2, 1)
    with pytest.raises(NotFound, match="seed 2"):
        export_report(context, "first", 2)


def test_settled_runs_of_the_seed_are_entries_by_competition(context: Context) -> None:
    leaves, bikes = (readable_version(context, slug) for slug in ("leaves", "bikes"))
    for version, seed in ((leaves, 0), (bikes, 1), (bikes, 0)):
        run, sent = closed_run(context, version, seed, {"score": 0.123456789, "medal": "gold"})
    closed_run(context, readable_version(context, "whales"), 0, state="open", closed_at=None)

    entries = export_report(context, "first", 0)["competition_reports"]

    assert [(one["competition_id"], one["score"], one["gold_medal"]) for one in entries] == [
        ("bikes", 0.12346, True), ("leaves", 0.12346, True),
    ]  # fmt: skip
    assert all(one["is_lower_better"] is True for one in entries)  # without a board too
    assert entries[0]["submission_path"] == f"runs/{run.id}/submissions/{sent[0]}"
    with pytest.raises(NotFound, match="There is no experiment 'frist'"):
        export_report(context, "frist", 0)


@pytest.mark.parametrize(
    ("lines", "score", "exported"),
    [
        ({}, 0.899999, 0.899999),  # 0.90000 would win gold by the lines of the report
        ({"median_threshold": None}, 0.899999, 0.9),  # without its lines nothing is compared
        ({"is_lower_better": None}, 0.899999, 0.9),
        ({}, None, None),
    ],
)
def test_an_imported_score_is_rounded_where_its_lines_lead_to_its_medal(
    context: Context, lines: dict[str, float | None], score: float | None, exported: float | None
) -> None:
    document = {
        "gold_threshold": 0.9, "silver_threshold": 0.8, "bronze_threshold": 0.7,
        "median_threshold": 0.5, "is_lower_better": False, **lines,
    }  # fmt: skip
    import_medals(context, "first", {})
    medal = None if score is None else "silver"
    add_imports(context, "first", {"a": {0: medal}}, score=score, document=document)

    (entry,) = export_report(context, "first", 0)["competition_reports"]

    assert entry["score"] == exported
