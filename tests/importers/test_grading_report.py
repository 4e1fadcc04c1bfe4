"""MLE-bench's reports: read without loss, or refused with the place and the reason."""

from __future__ import annotations

import json
import random
import time

import pytest

from app.errors import Invalid
from app.importers.grading_report import BadReport, read_report
from app.importers.run_groups import read_run_groups
from tests.grading_reports import entry, medal_lines, random_report, report, suites

LINES = medal_lines()
LEAF = LINES["leaf-classification"]
CACTUS = LINES["aerial-cactus-identification"]


def read(document: object):
    return read_report(json.dumps(document).encode())


@pytest.mark.parametrize("number", range(10))
def test_a_consistent_report_has_no_mismatch(number: int) -> None:
    document = random_report(suites()["mle-bench"], random.Random(number))
    found = read(document)
    assert found.mismatches == ()
    assert [one.document for one in found.entries] == document["competition_reports"]


def test_medals_are_recomputed_and_differences_listed() -> None:
    wrong = {**entry(LEAF, 0.015), "gold_medal": True, "bronze_medal": False}
    document = report([wrong, entry(CACTUS, None)])
    document["total_medals"] = 2
    found = read(document)

    assert [(m.place, m.file, m.ours) for m in found.mismatches] == [
        ("competition_reports[0].gold_medal", True, False),
        ("competition_reports[0].bronze_medal", False, True),
        ("total_medals", 2, 1),
        ("total_gold_medals", 1, 0),
        ("total_bronze_medals", 0, 1),
    ]
    assert [m.note for m in found.mismatches[2:]] == [""] * 3
    assert found.entries[0].medal == "bronze"
    assert [one.higher_is_better for one in found.entries] == [False, True]
    del document["total_medals"]
    assert read(document).mismatches[2].note == "the report has no such total"


def test_a_score_is_a_submission_whatever_the_report_says_of_one() -> None:
    bare = {**entry(LEAF, 0.5), "submission_exists": None}
    found = read([bare])
    assert (found.entries[0].made, found.entries[0].valid) == (True, True)
    assert [(m.field, m.note) for m in found.mismatches] == [
        ("submission_exists", "the report does not say")
    ]


def test_a_list_and_a_single_report_are_read() -> None:
    assert len(read([entry(LEAF, 0.1), entry(CACTUS, 1.0)]).entries) == 2
    assert read(entry(LEAF, 0.0)).entries[0].medal == "gold"
    found = read({"status": "completed", "results": [entry(LEAF, 0.1), entry(CACTUS, 1.0)]})
    assert [one.place for one in found.entries] == ["results[0]", "results[1]"]
    assert read(entry(LEAF, 0.0)).mismatches == ()


def test_nothing_is_lost() -> None:
    more = {**entry(LEAF, 0.1), "run": "leaf_1", "nested": {"score": [float("nan"), 1]}}
    kept = read([more]).entries[0].document
    assert kept == {**more, "nested": {"score": ["nan", 1]}}


@pytest.mark.parametrize("score", ["NaN", "Infinity", "-Infinity"])
def test_a_score_that_is_not_finite_is_no_valid_submission(score: str) -> None:
    text = json.dumps(entry(LEAF, 0.5)).replace("0.5", score)
    found = read_report(text.encode())
    assert (found.entries[0].valid, found.entries[0].score, found.entries[0].made) == (
        False, None, True,
    )  # fmt: skip
    assert {m.field for m in found.mismatches} >= {"score", "valid_submission"}


def test_an_entry_without_thresholds_keeps_the_files_word_and_says_so() -> None:
    bare = entry(LEAF, 0.01)
    for name in ("gold", "silver", "bronze", "median"):
        bare[f"{name}_threshold"] = None
    found = read([bare])
    assert found.entries[0].medal == "bronze"
    assert [(m.field, m.file) for m in found.mismatches] == [("any_medal", "bronze")]
    assert "cannot be recomputed" in found.mismatches[0].note


def test_a_run_without_a_submission_may_have_no_lines() -> None:
    bare = {**entry(LEAF, None), "is_lower_better": None, "gold_threshold": None}
    assert read([bare]).mismatches == ()


@pytest.mark.parametrize(
    ("data", "place", "reason"),
    [
        (b"", "line 1, column 1", "not JSON"),
        (b'{"competition_reports": [\n<<<<<<< HEAD\n', "line 2, column 1", "not JSON"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "line 1", "Git LFS"),
        (b"\xff\xfe{}", "byte 0", "UTF-8"),
        (b'{"tasks": []}', "", "'tasks'"),
        (b"3", "", "an object with competition_reports"),
        (b"[]", "", "no competition reports"),
        (b'{"competition_reports": {}}', "competition_reports", "not a list"),
        (b'{"competition_reports": [3]}', "competition_reports[0]", "an object"),
        (b'[{"competition_id": "../x"}]', "[0].competition_id", "not the id"),
        (b'[{"competition_id": 3, "score": 1}]', "[0].competition_id", "not the id"),
        (b'[{"competition_id": "a"}]', "score", "it is not there"),
        (b'[{"competition_id": "a", "score": "0.5"}]', "score", "not a number"),
        (b'[{"competition_id": "a", "score": 1, "any_medal": 1}]', "any_medal", "true, false"),
        (b'[{"competition_id": "a", "score": 1' + b"0" * 400 + b"}]", "score", "is too large"),
        (b'{"competition_id": "a", "competition_id": "b"}', "", "twice"),
        (b"[" * 101 + b"1" + b"]" * 101, "", "nested more than 100 deep"),
        (b"[" * 100_000, "", "nested more than 100 deep"),
        (b"[" + b"1," * 3_000_001 + b"1]", "", "more than 3,000,000 values"),
    ],
)
def test_other_files_are_refused_with_place_and_reason(data, place, reason) -> None:
    with pytest.raises(BadReport) as refusal:
        read_report(data)
    assert place in refusal.value.extensions["place"]
    assert reason in refusal.value.extensions["reason"]


def test_a_report_of_very_many_entries_is_refused() -> None:
    """Differences take fifty times the bytes of such entries: 3.8 MB took 208 MB."""
    least = {"competition_id": "leaf-classification", "score": None}

    assert len(read([least] * 10_000).entries) == 10_000
    with pytest.raises(BadReport, match="more than 10,000 competition reports"):
        read([least] * 10_001)


def test_a_repeated_key_is_found_in_time_proportional_to_the_keys() -> None:
    keys = "".join(f'"{n}":1,' for n in range(60_000))
    started = time.process_time()
    with pytest.raises(BadReport, match="59999"):
        read_report(f'{{{keys}"59999":1}}'.encode())

    assert time.process_time() - started < 5  # it took 30 seconds


def test_thousands_of_run_groups_are_read_in_time_proportional_to_them() -> None:
    names = [f"{n:06}" for n in range(60_000)]
    started = time.process_time()
    found = read_run_groups(("experiment_id,run_group\n" + "a," + "\na,".join(names)).encode())

    assert found == {"a": names}
    assert time.process_time() - started < 5  # it took 60 seconds


def test_run_groups() -> None:
    text = b"experiment_id,run_group\r\nb,2\r\na,9\r\na,1\r\n\r\n"
    assert read_run_groups(text) == {"b": ["2"], "a": ["1", "9"]}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"", "line 1"),
        (b"run_group,experiment_id\n", "line 1"),
        (b"experiment_id,run_group\na,1\nb\n", "line 3"),
        (b"experiment_id,run_group\na,1\na,1\n", "line 3"),
        (b"experiment_id,run_group\na,\n", "line 2"),
        (b"a\xff", "at byte 1: it is not UTF-8"),
    ],
)
def test_bad_run_groups_are_refused_with_their_line(text: bytes, line: str) -> None:
    with pytest.raises(Invalid, match=line):
        read_run_groups(text)
