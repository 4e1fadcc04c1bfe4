"""The lines about the noise of a rate, and the fields of a score without an estimate."""

from __future__ import annotations

from app.reports.document.report import columns_of
from app.reports.uncertainty import REGRADED, noise_notes, noise_report, uncertainty_document
from app.services.results.noise.experiment_noise import FinalScore, RateNoise


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
