"""Answers of TensorFlow 2.0 Question Answering: what is not an example is named by its line."""

from __future__ import annotations

import pytest

from app.importers.natural_questions import answers_csv

ENDLESS = (
    '{"example_id": 1, "annotations": [{"long_answer": {"start_token": Infinity, "end_token": 2}, '
    '"short_answers": [], "yes_no_answer": "NONE"}]}'
)


def test_each_question_has_a_long_and_a_short_answer_of_which_each_is_accepted() -> None:
    line = (
        '{"example_id": 7, "annotations": [{"long_answer": {"start_token": 3, "end_token": 9}, '
        '"short_answers": [{"start_token": 4, "end_token": 5}, {"start_token": 6, "end_token": 7}],'
        ' "yes_no_answer": "NONE"}]}'
    )
    assert answers_csv(line.encode()) == (
        b"example_id,PredictionString,accepted\n7_long,3:9,3:9\n7_short,4:5,4:5|6:7\n"
    )


@pytest.mark.parametrize(
    "line",
    [
        "{}", "[]", "{", '{"annotations": []}', "[" * 100_000,
        ENDLESS,
    ],
)  # fmt: skip
def test_what_is_not_an_example_is_named_by_its_line(line: str) -> None:
    good = (
        '{"example_id": 1, "annotations": [{"long_answer": {"start_token": -1}, '
        '"short_answers": [], "yes_no_answer": "YES"}]}'
    )
    assert b"1_short,YES,YES" in answers_csv(good.encode())
    with pytest.raises(ValueError, match="line 2 is not an example"):
        answers_csv(f"{good}\n{line}\n".encode())


def test_texts_may_have_line_separators_that_end_no_line() -> None:
    line = (
        '{"example_id": 1, "question_text": "a\u2028b\x85c", "annotations": [{"long_answer": '
        '{"start_token": -1}, "short_answers": [], "yes_no_answer": "YES"}]}\r\n'
    )
    assert answers_csv(line.encode()).count(b"1_short,YES,YES") == 1
