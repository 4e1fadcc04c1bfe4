"""The tables of scores on a scale."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from app.domain.result_choices import Padding
from app.reports.document.page import Marked
from app.reports.score_summaries import scores_report
from app.services.results.inputs.scope import ResultFilter
from app.services.results.scores.score_summaries import ScoredExperiment, Unplaced
from app.statistics.percentiles import (
    DEFAULT_CONVENTION,
    PERCENTILE,
    PERCENTILES,
    SAMPLE_TO_GOLD,
    SCALES,
)
from app.statistics.scores.score_estimates import ScoreEstimate
from app.statistics.scores.score_summaries import summarise
from tests.reports.make import PLAIN

OWLS = Unplaced("first", "owls", 0, "its place is not known")
FOUND = ScoredExperiment(
    context=replace(PLAIN, filters=ResultFilter("tiny", Padding.FAIL)),
    against=None,
    scale=PERCENTILE,
    convention=DEFAULT_CONVENTION,
    target=90.0,
    unplaced=[],
    summary=summarise([np.array([20.0, 80.0]), np.array([50.0, 70.0])], 90.0),
    better=None,
)
SECOND = replace(PLAIN, experiment=replace(PLAIN.experiment, name="second"))


def test_each_summary_is_a_line_and_each_step_of_the_profile() -> None:
    page = scores_report(FOUND).page()

    summaries, profile = page.tables
    assert [line[:2] for line in summaries.rows] == [
        ["mean percentile", "55.00"], ["median of the competitions' means", "55.00"],
        ["interquartile mean", "60.00"], ["optimality gap", "35.00"],
    ]  # fmt: skip
    mean = FOUND.summary.mean
    assert mean.runs95 is not None
    assert summaries.rows[0][2] == f"{mean.runs95[0]:.2f} to {mean.runs95[1]:.2f}"
    assert profile.header[:2] == ["percentile above", "share of attempts (%)"]
    assert [line[:2] for line in profile.rows[3:5]] == [["15", "100.00"], ["20", "75.00"]]
    source = PERCENTILES[DEFAULT_CONVENTION].source
    assert page.notes[:3] == [
        f"Percentiles: {DEFAULT_CONVENTION} ({source}); 0 without a valid submission.",
        "Optimality gap: how far attempts fall short of 90, on average.",
        "first: suite tiny, 1 competition, 2 seeds.",
    ]


def test_cells_are_marked_with_what_has_no_result_or_no_place() -> None:
    missing = (("bikes", 1, "no run"),)
    found = replace(
        FOUND, context=replace(FOUND.context, missing=missing),
        against=replace(SECOND, missing=missing), better=ScoreEstimate(62.5, None),
        unplaced=[OWLS, replace(OWLS, experiment="second"), replace(OWLS, experiment="second")],
    )  # fmt: skip
    page = scores_report(found).page()

    def marks(count: int, text: str) -> Marked:
        return Marked(text, (f"{count} missing results count as failures (padding=fail)",))

    summaries, profile = page.tables
    assert summaries.rows[0][1] == marks(2, "55.00")
    better = ["P(better than second) (%)", "62.50", "not known", "not known"]
    assert summaries.rows[-1] == [better[0], *(marks(5, text) for text in better[1:])]
    assert profile.rows[0][1] == marks(2, "100.00")
    assert "3 attempts that have no percentile count as failures (padding=fail)." in page.notes
    assert any(note.startswith("second: ") for note in page.notes)
    one = replace(FOUND, unplaced=[OWLS])
    line = "1 attempt that has no percentile count as failures (padding=fail)."
    assert line in scores_report(one).page().notes


def test_another_scale_has_its_formula_and_four_digits() -> None:
    summary = summarise([np.array([0.25, 0.5])], 1.0, low=-1.2, high=1.2)
    found = replace(FOUND, scale=SAMPLE_TO_GOLD, convention=None, target=1.0, summary=summary)
    report = scores_report(found)

    page, scale = report.page(), SCALES[SAMPLE_TO_GOLD]
    assert page.tables[0].rows[0][:2] == ["mean between-sample-and-gold", "0.3750"]
    assert page.tables[1].header[0] == "between-sample-and-gold above"
    assert page.notes[0] == f"between-sample-and-gold ({scale.source}): {scale.formula}."
    names = ("scale", "scale_source", "percentile_convention", "percentile_source")
    expected = [SAMPLE_TO_GOLD, scale.source, None, None]
    assert [report.document[name] for name in names] == expected


def test_each_summary_and_step_is_a_row() -> None:
    found = replace(FOUND, against=SECOND, better=ScoreEstimate(62.5, (1.0, 99.0)),
                    unplaced=[OWLS])  # fmt: skip
    report = scores_report(found)

    names = ("statistic", "above", "value", "against", "percentile", "unplaced", "scale")
    rows = [tuple(row[name] for name in names) for row in report.rows]
    last = ("second", DEFAULT_CONVENTION, 1, PERCENTILE)
    assert rows[0] == ("mean", None, 55.0, *last)
    assert rows[4:6] == [("probability_better", None, 62.5, *last),
                         ("profile", 0.0, 100.0, *last)]  # fmt: skip
    assert len(rows) == 5 + 20
    assert (report.rows[4]["runs95_low"], report.rows[4]["runs95_high"]) == (1.0, 99.0)
    document = report.document
    assert document["against"]["experiment"] == "second"
    assert document["probability_better"]["value"] == 62.5
    assert (document["attempts"], document["target"], document["mean"]["value"]) == (4, 90.0, 55.0)
    assert document["unplaced"][0]["competition"] == "owls"
    plain = scores_report(FOUND)
    assert plain.document["percentile_source"] == PERCENTILES[DEFAULT_CONVENTION].source
    assert (plain.document["against"], plain.document["probability_better"]) == (None, None)
    assert plain.rows[0]["against"] is None
