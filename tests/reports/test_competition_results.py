"""The table of all attempts at a competition."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from app.reports.competition_results import competition_report
from app.reports.document.report import columns_of
from app.services.results.competition_results import CompetitionResult
from app.services.results.inputs.competition_info import CompetitionInfo
from app.statistics.percentiles import PERCENTILES

NAMES = [each.name for each in fields(CompetitionResult)]
KNOWN = {
    "experiment": "first", "seed": 3, "score": 0.123456789, "medal": "gold", "percentile": 99.5,
    "improvement": 0.25, "state": "graded", "reported_score": 0.5, "reported_sort": "test",
}  # fmt: skip


def test_each_attempt_is_a_line_and_each_flag_a_note() -> None:
    empty: dict[str, Any] = dict.fromkeys(NAMES)
    pending = {"experiment": "second", "seed": 0, "state": "pending"}
    results = [CompetitionResult(**{**empty, **known}) for known in (KNOWN, pending)]
    info = CompetitionInfo(complexity="low", flags=(("leaky", "the answers are public"),))
    report = competition_report("bikes", "mid-rank", info, results)

    page = report.page()
    (table,) = page.tables
    assert table.header == ["experiment", "seed", "score", "medal", "percentile", "improvement",
                            "state", "reported"]  # fmt: skip
    assert table.rows == [
        ["first", 3, "0.123457", "gold", "99.5", "0.25", "graded", "0.5 test"],
        ["second", 0, "", "", "", "", "pending", ""],
    ]
    assert page.notes == ["leaky: the answers are public"]
    assert {name: report.rows[0][name] for name in KNOWN} == KNOWN
    assert columns_of(competition_report("bikes", "mid-rank", info, []).rows) == NAMES
    document = report.document
    assert document.pop("items") == list(report.rows)
    assert document == {
        "competition": "bikes", "complexity": "low", "percentile_convention": "mid-rank",
        "percentile_source": PERCENTILES["mid-rank"].source,
        "flags": [{"competition": "bikes", "code": "leaky", "note": "the answers are public"}],
    }  # fmt: skip
