import json

from app.domain.verdict import (
    LISTED_VIOLATIONS,
    Notice,
    Rejection,
    Verdict,
    Violation,
    ViolationCode,
    WarningCode,
    problem_document,
)

BAD = Violation(
    ViolationCode.NOT_A_NUMBER, "not a number", column="count", row=3, examples=("x", "y")
)


def test_a_violation_shows_all_it_knows():
    assert BAD.as_dict() == {
        "code": "not_a_number",
        "message": "not a number",
        "column": "count",
        "row": 3,
        "examples": ["x", "y"],
    }


def test_a_violation_leaves_out_what_it_does_not_know():
    assert Violation(ViolationCode.EMPTY_FILE, "the file is empty").as_dict() == {
        "code": "empty_file",
        "message": "the file is empty",
    }


def test_warnings_do_not_make_a_file_invalid():
    notice = Notice(WarningCode.BLANK_LINES, "2 blank lines were passed over")

    assert Verdict(warnings=(notice,)).is_valid
    assert notice.as_dict() == {
        "code": "blank_lines",
        "message": "2 blank lines were passed over",
    }


def test_a_rejection_carries_every_violation_and_warning():
    notice = Notice(WarningCode.UNKNOWN_COLUMN, "extra")

    rejection = Rejection([BAD] * 30, [notice])

    assert not rejection.verdict.is_valid
    assert len(rejection.verdict.violations) == 30
    assert rejection.verdict.warnings == (notice,)


def test_the_problem_document_has_one_violation_in_the_singular():
    document = problem_document(Verdict((BAD,)))

    assert document["detail"] == "1 problem found: not a number"
    assert document["violation_count"] == 1
    assert (document["type"], document["status"]) == ("/problems/invalid-submission", 422)


def test_the_problem_document_lists_twenty_and_counts_all():
    document = problem_document(Verdict((BAD,) * 57))

    assert len(document["violations"]) == LISTED_VIOLATIONS == 20
    assert document["violation_count"] == 57
    assert document["detail"].startswith("57 problems found: ")
    assert document["detail"].endswith("; ...")


def test_the_detail_says_whether_there_are_more_than_it_has():
    three, four = (problem_document(Verdict((BAD,) * count))["detail"] for count in (3, 4))

    assert three == "3 problems found: not a number; not a number; not a number"
    assert four == "4 problems found: not a number; not a number; not a number; ..."


def test_the_problem_document_is_json():
    document = problem_document(Verdict((BAD,)))

    assert json.loads(json.dumps(document)) == document
