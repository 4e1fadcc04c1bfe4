"""The lines about the noise of a rate, and the fields of a score without an estimate."""

from __future__ import annotations

from app.reports.document.report import columns_of
from app.reports.uncertainty import (
    MEANING,
    REGRADED,
    noise_notes,
    noise_report,
    uncertainty_document,
)
from app.services.results.noise.experiment_noise import FinalScore, RateNoise
from app.storage.queries.noise.uncertainties import UncertaintyRecord
from tests.reports.make import NOON


def score(**changed: object) -> FinalScore:
    values = {"competition": "bikes", "seed": 0, "run": "run_1", "submission": "sub_1"}
    return FinalScore(**{**values, "score": 0.5, "medal": "gold", "kept": None, **changed})


def test_a_score_without_an_estimate_has_every_field_as_null():
    fields = uncertainty_document(None)

    assert set(fields.values()) == {None}
    assert "resampling_seed" in fields
    assert "seed" not in fields  # that is the seed of the run in the same row


def test_without_a_score_the_table_has_the_same_columns():
    rows = noise_report("trial", [score()]).rows

    assert columns_of(noise_report("trial", []).rows) == list(rows[0])


def test_a_regraded_score_says_why_it_has_no_noise():
    first, regraded = noise_report("trial", [score(), score(regrade="reg_1")]).document["items"]

    assert first["reason"] is None
    assert regraded["reason"] == REGRADED


def test_a_run_that_a_review_excludes_has_no_row():
    """It stood there with its score and medal like the others."""
    report = noise_report("trial", [score(), score(seed=1, is_excluded=True)])

    assert [one["seed"] for one in report.document["items"]] == [0]
    assert [row["seed"] for row in report.rows] == [0]
    assert report.document["rates"][0]["unmeasured"] == 1


def test_no_line_about_noise_is_printed_before_anybody_asked_for_it():
    assert noise_notes([]) == []
    assert noise_notes([RateNoise("any_medal", 0, 3, 0, 0, 0)]) == []


def test_one_medal_within_the_noise_is_in_the_singular():
    (line,) = noise_notes([RateNoise("any_medal", 2, 0, 1, 1, 1)])

    assert "of 1 medals 1 is nearer" in line
    assert "1 of 1 scores without a medal is as near" in line
    assert "not known" not in line


def test_several_medals_within_the_noise_and_scores_without_one_are_in_the_plural():
    (line,) = noise_notes([RateNoise("any_medal", 9, 2, 5, 2, 3)])

    assert "of 5 medals 2 are nearer" in line
    assert "3 of 4 scores without a medal are as near to one. Of 2 scores the noise is not" in line


def test_an_estimate_is_in_the_row_the_document_and_the_table():
    medals = {"gold": 0.5, "silver": 0.25, "bronze": 0.0, "none": 0.25}
    kept = UncertaintyRecord(
        grade_id=1, grader={}, standard_error=0.125, low=0.25, high=0.75,
        medals=medals, reason=None, resamples=100, undefined=0, rows=20,
        seed=7, estimated_at=NOON,
    )  # fmt: skip
    report = noise_report("trial", [score(kept=kept), score(seed=1)])

    first, second = report.rows
    assert (first["standard_error"], first["chance_gold"], first["chance_silver"]) == (
        0.125, 0.5, 0.25,
    )  # fmt: skip
    assert (first["resampling_seed"], second["resampling_seed"]) == (7, None)
    assert report.document["items"][0]["medals"] == medals
    page = report.page()
    assert page.tables[0].rows[0] == [
        "bikes", "0", "0.5", "0.125", "0.25", "0.75", "gold", "0.5", "0.25", "0", "0.25", "",
    ]  # fmt: skip
    assert page.notes[-1] == MEANING
