"""Every competition of MLE-bench scores as MLE-bench does, and refuses what is malformed."""

import re

import pytest

from app.domain.verdict import Rejection
from app.grading.grade import grade
from tests.catalogue.vectors import COMPETITIONS, RIGHT, SAME_AS_NOISY, SLUGS

# What a refusal must name, by the kind of mistake: at least one of these codes.
CODES = {
    r"empty_file": "empty_file",
    r"duplicate_id|.*duplicate_row|duplicate_row|diluted": "duplicate_id",
    r"missing_row|missing_id|missing_middle_row|missing_patient": "missing_id row_count",
    r"unknown_id|unknown_trip|unknown_time|unknown_target|dash_id": "unknown_id",
    r"missing(_prediction|_id|_class)?_column|no_id_column": "missing_column",
    r"blank_prediction|blank_unscored.*|zenith_blank|constant_blank": "missing_value",
    r"inf|.*_inf|inf_prediction|infinite_.*": "not_finite",
    r"(above|below)_(one|zero|hundred)|grade_.*|negative_(label|category|probability)":
        "out_of_range",
    r"row_sum.*|sum_not_one|all_zero_row": "probabilities_do_not_sum_to_one",
    r"rle_.*|.*_runs|odd_tokens|beyond_end|start_.*|cell_.*|short_string": "bad_format",
    r"header_only|zero_rows": "row_count",
    r"ragged|wrong_delimiter|semicolons|too_many_fields": "not_csv",
    r"blank_id": "missing_value",
    r"text_prediction": "not_a_number bad_format",
}  # fmt: skip


def test_there_are_vectors_for_all_competitions():
    assert len(SLUGS) == 82
    assert all((COMPETITIONS / slug / "competition.toml").is_file() for slug in SLUGS)


def test_well_formed_submissions_have_the_right_score(vectors):
    for case in vectors.cases:
        if not case["wellformed"]:
            continue
        score = grade(
            vectors.read(case), vectors.competition, vectors.answers, None, vectors.scorer
        ).score
        expected = vectors.expected(case)
        if expected is None:
            assert case["kind"] == "extra_column", case["file"]  # harmless, so it only has to count
        else:
            assert score == pytest.approx(float(expected), rel=0, abs=1e-9), case["file"]


def test_malformed_submissions_are_refused_for_the_right_reason(vectors):
    for case in vectors.cases:
        if case["wellformed"]:
            continue
        with pytest.raises(Rejection) as caught:
            vectors.answers.check(vectors.read(case))
        codes = {violation.code.value for violation in caught.value.verdict.violations}
        for pattern, wanted in CODES.items():
            if re.fullmatch(pattern, case["kind"]):
                assert codes & set(wanted.split()) or vectors.slug in _ODD, (case["file"], codes)


# Boxes report any bad number as a bad box; one id of the whole file, or optional ones, change which
# of the codes comes first.
_ODD = {
    "3d-object-detection-for-autonomous-vehicles",
    "vesuvius-challenge-ink-detection",
    "vinbigdata-chest-xray-abnormalities-detection",
}


def test_what_is_said_to_differ_does_differ(vectors):
    kinds = {case["kind"]: case for case in vectors.cases if case["wellformed"]}
    for slug, kind in [*RIGHT, *SAME_AS_NOISY]:
        if slug == vectors.slug:
            reference = kinds[kind]["reference"]
            assert reference is None or float(reference) != vectors.expected(kinds[kind])
