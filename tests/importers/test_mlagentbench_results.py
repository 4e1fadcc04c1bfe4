"""MLAgentBench's evaluations: what is read, what is listed, what is refused."""

from __future__ import annotations

import json

import pytest

from app.domain.states import Failure
from app.importers.evaluation_values import BadEvaluation
from app.importers.mlagentbench_results import read_evaluation

PLACE = "logs/agent/task/1/env_log/trace.json"
NO_ERRORS = {
    "oom_error": False, "connection_error": False, "error": False, "json_error": False,
    "long_prompt_error": False,
}  # fmt: skip


def entry(place: str = PLACE, **over) -> dict:
    """MLAgentBench's file for a run whose steps were evaluated."""
    return {
        "path": place, "summary": "", "rubric_questions": {}, "score": [0.5, 0.6, 0.7],
        "score_steps": [0, 1], "submitted_final_answer": True, "final_score": 0.7,
        "total_time": 120.5, "error": "", "extra": NO_ERRORS, **over,
    }  # fmt: skip


def read(*, up: bool = True, document: object = None, data: bytes | None = None, **over):
    whole = {PLACE: entry(**over)} if document is None else document
    return read_evaluation(
        json.dumps(whole).encode() if data is None else data, "task", higher_is_better=up
    )


def one(**over):
    found = read(**over)
    (run,) = found.runs
    return run, [each.field for each in found.mismatches]


def extra(**over) -> dict:
    return {**NO_ERRORS, **over}


def test_a_run_as_the_evaluation_writes_it():
    run, listed = one()
    assert listed == []
    assert (run.place, run.steps, run.final) == (PLACE, ((0, 0.5), (1, 0.6)), 0.7)
    assert (run.seconds, run.failure, run.blank_steps) == (120.5, Failure.NONE, 0)
    assert run.document == entry()


def test_a_run_whose_steps_were_not_evaluated():
    run, listed = one(score=[0.7], score_steps=[])
    assert (run.steps, run.final, listed) == ((), 0.7, [])


def test_a_run_without_a_final_score():
    run, listed = one(
        score=[0.5, 0.6], final_score=-1, submitted_final_answer=False, total_time=0
    )  # fmt: skip
    assert (run.steps, run.final, listed) == (((0, 0.5), (1, 0.6)), None, [])
    assert (run.failure, run.seconds) == (Failure.NO_SUBMISSION, None)


def test_zeros_and_sentinels_of_steps_are_no_scores():
    run, listed = one(score=[0, -1, None, 0.6, 0.7], score_steps=[0, 3, 6, 9])
    assert (run.steps, run.blank_steps, listed) == (((9, 0.6),), 3, [])


def test_a_final_zero_is_a_score_only_where_higher_is_better():
    run, listed = one(score=[0.5, 0.6, 0], final_score=0)
    assert (run.final, listed) == (0.0, [])
    run, listed = one(up=False, score=[0.5, 0.6, 0], final_score=0, submitted_final_answer=False)
    assert (run.final, listed) == (None, ["final_score", "score_steps"])


def test_runs_come_in_the_order_of_their_keys():
    document = {name: entry(name) for name in ("b/trace.json", "a/trace.json", "c/trace.json")}
    assert [run.place[0] for run in read(document=document).runs] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("over", "listed"),
    [
        ({"final_score": 0.9}, ["final_score"]),
        ({"final_score": 0.9, "score": [], "score_steps": []}, ["final_score"]),
        ({"score_steps": [0, 1, 2, 3]}, ["score_steps"]),
        ({"score_steps": [0]}, ["score_steps"]),
        ({"submitted_final_answer": False}, ["submitted_final_answer"]),
        ({"final_score": -1, "score": [0.5, 0.6]}, ["final_score"]),
        ({"total_time": -3}, ["total_time"]),
        ({"total_time": 1e308}, ["total_time"]),
        ({"path": "logs/other/trace.json"}, ["path"]),
        ({"error": "Traceback"}, ["extra.error", "extra"]),
        ({"extra": extra(json_error=True)}, ["extra"]),
        ({"extra": extra(mkl_error=True)}, ["extra.mkl_error"]),
        ({"extra": extra(oom_error=True, connection_error=True)}, ["extra"]),
    ],
)
def test_what_does_not_fit_together_is_listed(over, listed):
    _, found = one(**over)
    assert found == listed


def test_the_final_score_counts_where_it_is_not_the_last():
    run, _ = one(final_score=0.9)
    assert (run.steps, run.final) == (((0, 0.5), (1, 0.6)), 0.9)
    run, _ = one(score_steps=[0, 1, 2, 3])
    assert (run.steps, run.final) == (((None, 0.5), (None, 0.6)), 0.7)


def test_fields_that_are_not_there_are_listed():
    document = {PLACE: {"final_score": 0.7, "score": [0.7]}}
    found = read(document=document)
    assert {each.field for each in found.mismatches} >= {"score_steps", "total_time", "extra"}
    assert found.runs[0].final == 0.7


@pytest.mark.parametrize(
    ("flags", "error", "kind"),
    [
        ({"oom_error": True}, "", Failure.OUT_OF_MEMORY),
        ({"connection_error": True, "json_error": True}, "", Failure.CONNECTION),
        ({"long_prompt_error": True}, "", Failure.CONTEXT_LENGTH),
        ({"json_error": True}, "", Failure.MALFORMED_OUTPUT),
        ({"error": True}, "Traceback", Failure.CRASH),
        ({}, "Traceback", Failure.CRASH),
        ({}, "", Failure.NO_SUBMISSION),
    ],
)
@pytest.mark.parametrize("final", [-1, None])
def test_failures_of_runs_without_a_final_score(flags, error, kind, final):
    run, listed = one(
        score=[], score_steps=[], final_score=final, submitted_final_answer=False, error=error,
        extra=extra(**flags),
    )  # fmt: skip
    assert (run.failure, run.final) == (kind, None)
    assert ("extra.error" in listed) == bool(error and not flags)


def test_infrastructure_takes_a_run_even_with_a_final_score():
    assert one(extra=extra(oom_error=True))[0].failure is Failure.OUT_OF_MEMORY
    assert one(extra=extra(long_prompt_error=True))[0].failure is Failure.NONE


def test_a_long_key_that_is_there_twice_is_told_in_short():
    key = "k" * 1_000_000
    with pytest.raises(BadEvaluation) as refused:
        read_evaluation(f'{{"{key}": 1, "{key}": 2}}'.encode(), "a", higher_is_better=True)

    assert len(refused.value.detail) < 300


def test_the_same_entry_twice_counts_once():
    text = f'{{"a/trace.json": {json.dumps(entry("a/trace.json"))}, '
    text += text[1:].removesuffix(", ") + "}"
    found = read(data=text.encode())
    assert len(found.runs) == 1
    assert (found.mismatches[0].place, found.mismatches[0].file) == ("a/trace.json", 2)


@pytest.mark.parametrize("many", ["extra", "repeated"])
def test_an_evaluation_of_very_many_inconsistencies_is_refused(many: str):
    """They take thirty times the bytes of the file, in memory and in the answer."""
    strange = ",".join(f'"kind{number}":true' for number in range(100_001))
    data = json.dumps({PLACE: entry()}).replace('"oom_error": false', strange)
    if many == "repeated":
        data = data.replace(strange, ",".join(['"oom_error":false'] * 100_002))

    error = refused(data=data.encode())

    assert "more than 100,000 inconsistencies" in error.detail


def refused(**given) -> BadEvaluation:
    with pytest.raises(BadEvaluation) as caught:
        read(**given)
    return caught.value


@pytest.mark.parametrize(
    ("over", "place"),
    [
        ({"final_score": "0.7"}, "final_score"),
        ({"final_score": True}, "final_score"),
        ({"score": 0.7}, "score"),
        ({"score": [0.5, "x"]}, "score.1"),
        ({"score": [0.5, [0.6]]}, "score.1"),
        ({"score": [10**400]}, "score.0"),
        ({"score": [0.5] * 10_001}, "score"),
        ({"score_steps": [0, 0.5]}, "score_steps.1"),
        ({"score_steps": [1, 1]}, "score_steps.1"),
        ({"score_steps": [-1, 1]}, "score_steps.0"),
        ({"score_steps": [0, 2**53]}, "score_steps.1"),
        ({"submitted_final_answer": "yes"}, "submitted_final_answer"),
        ({"total_time": "long"}, "total_time"),
        ({"error": 7}, "error"),
        ({"extra": []}, "extra"),
        ({"extra": {"oom_error": 1}}, "extra.oom_error"),
    ],
)
def test_wrong_types_are_refused_with_their_place(over, place):
    error = refused(**over)
    assert error.extensions["place"] == f"{PLACE}.{place}"
    assert error.extensions["reason"] in error.detail


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
@pytest.mark.parametrize("field", ["final_score", "total_time"])
def test_numbers_that_are_none_are_refused(number, field):
    text = json.dumps({PLACE: entry(**{field: 12345})}).replace("12345", number)
    said = "the number is too large" if "1e" in number else f"{number} is not a number"
    assert said in refused(data=text.encode()).detail


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "it is not JSON"),
        (b"[1, 2]", "not an object"),
        (b"null", "not an object"),
        (b"{}", "no results"),
        (b"{", "line 1, column 2"),
        ('{"a": 1}'.encode("utf-16"), "not UTF-8"),
        (b'{"a/trace.json": 3}', "the results of a run are an object"),
        (b'{"a/trace.json": {"score": []}}', "final_score: it is not there"),
        (b'{"a/trace.json": {"final_score": 1}}', "score: it is not there"),
        (b'{"": {}}', "not a path"),
        (b'{"a\\u0000b": {}}', "not a path"),
        (b'{"\\ud800": {}}', "not a path"),
        (b'{"a": {"final_score": 1, "score": [1]}, "a": {"final_score": 2, "score": [2]}}',
         "twice, with different values"),
        (b'{"a/b": {"final_score": 1, "score": [1]}, "a//b": {"final_score": 1, "score": [1]}}',
         "one run with two results"),
        (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        (b"[" * 100_000, "nested more than 100 deep"),
    ],
)  # fmt: skip
def test_what_is_not_an_evaluation_is_refused(data, said):
    assert said in refused(data=data).detail


@pytest.mark.parametrize("over", [{"final_score": -0.7}, {"score": [-0.5, -0.6, 0.7]}])
def test_negated_errors_are_of_the_wrong_direction(over):
    assert "negated" in refused(up=False, **over).detail
    read(up=True, **over)


def test_texts_that_databases_do_not_take_are_replaced():
    run, _ = one(summary="a\x00b\ud800")
    assert run.document["summary"] == "a\ufffdb?"
