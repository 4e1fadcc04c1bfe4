"""Answers: decoded by the same rules, aligned to the public ids, cut into parts."""

import numpy as np
import pytest

from app.errors import BadCompetition
from app.grading.answers_as_submission import answers_as_submission
from app.grading.check import Checker
from app.grading.decode_answers import decode_answers
from app.grading.grade import grade
from app.grading.scorer import scorer_for
from tests.grading.make import competition, public_ids

IDS = public_ids(["a", "b", "c", "d"])
MARKED = b"id,x,Usage\na,1,Public\nb,2,Private\nc,3,Ignored\nd,4,Private\n"


def problem(data: bytes, columns: str = 'x = { kind = "number", min = 0 }') -> dict[str, str]:
    with pytest.raises(BadCompetition) as caught:
        decode_answers(data, competition(columns), IDS)
    (only,) = caught.value.problems
    assert only["file"] == "private/answers.csv"
    return only


def test_of_ids_that_differ_those_of_either_file_are_shown_to_the_admin():
    with pytest.raises(BadCompetition) as caught:
        decode_answers(b"id,x\na,1\nb,2\nc,3\ne,4\n", competition(), IDS)

    unknown, missing = (one["message"] for one in caught.value.problems)
    assert "; this file has 'e'. Either of the two files may be the wrong one" in unknown
    assert "; the sample submission has 'd'. Either of the two files may be" in missing


def test_without_usage_all_rows_count():
    answers = decode_answers(b"id,x\nd,4\nb,2\nc,3\na,1\n", competition(), IDS)

    assert not answers.has_usage
    assert answers.public is None
    assert answers.private.rows is None
    assert answers.private.arrays.tolist() == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize(
    "data",
    [
        MARKED,
        b"Usage,x,id\nPrivate,4,d\nIgnored,3,c\nPrivate,2,b\nPublic,1,a\n",
        b"id,x,Usage\na,1,PUBLIC\nb,2, private\nc,3,ignored \nd,4,pRIVATE\n",
        b"id,x,Usage\n\na,1,Public\nb,2,Private\nc,,Ignored\nd,4,Private\n",
        b"id,x,Usage\na,1,Public\nb,2,Private\nc,oops,ignored\nd,4,Private\n",
    ],
    ids=["plain", "other order", "other case", "ignored without a value", "ignored nonsense"],
)
def test_usage_cuts_the_answers_into_parts(data):
    answers = decode_answers(data, competition(), IDS)

    assert answers.has_usage
    assert answers.private.rows.tolist() == [1, 3]
    assert answers.private.arrays.tolist() == [2.0, 4.0]
    assert answers.public is not None
    assert answers.public.rows.tolist() == [0]
    assert answers.public.arrays.tolist() == [1.0]


def test_there_need_not_be_a_public_part():
    answers = decode_answers(MARKED.replace(b"Public", b"Ignored"), competition(), IDS)

    assert answers.public is None
    assert answers.private.rows.tolist() == [1, 3]


def test_rows_to_search_on_are_a_part_of_their_own():
    answers = decode_answers(MARKED.replace(b"Ignored", b" search"), competition(), IDS)

    assert {name: part.rows.tolist() for name, part in answers.parts.items()} == {
        "private": [1, 3], "public": [0], "search": [2],
    }  # fmt: skip


def test_it_refuses_an_unknown_usage_and_shows_it_to_the_admin():
    found = problem(MARKED.replace(b"Ignored", b"Secret"))

    assert found["key"] == "Usage"
    assert found["message"] == (
        "expected Public, Private, Search or Ignored in every row; row 3 has 'Secret'"
    )


def test_it_refuses_answers_of_which_nothing_is_private():
    found = problem(MARKED.replace(b"Private", b"Public"))

    assert (found["key"], found["message"]) == (
        "Usage",
        "no row is Private, so nothing decides the score",
    )


def test_it_refuses_a_usage_column_in_other_letters():
    assert problem(MARKED.replace(b"Usage", b"usage")) == {
        "file": "private/answers.csv",
        "key": "usage",
        "message": "write this column's name as Usage",
    }


@pytest.mark.parametrize(
    ("data", "key", "words"),
    [
        (b"", "", "the file is empty"),
        (b"id,y\na,1\nb,2\nc,3\nd,4\n", "x", "column 'x' is missing"),
        (b"id,x\na,1\nb,-2.75\nc,3\nd,4\n", "x", "1 value is out of range in column 'x', in row 2"),
        (b"id,x\na,1\nb,secret\nc,3\nd,4\n", "x", "1 value is not a number"),
        (b"id,x\na,1\nb,\nc,3\nd,4\n", "x", "1 value is missing"),
        (b"id,x,x\na,1,1\nb,2,1\nc,3,1\nd,4,1\n", "x", "column 'x' stands 2 times"),
        (b"id,x,k,k\na,1,1,1\nb,2,1,1\nc,3,1,1\nd,4,1,1\n", "k", "column 'k' stands 2 times"),
    ],
)
def test_it_refuses_answers_that_would_be_no_valid_submission(data, key, words):
    found = problem(data)

    assert found["key"] == key
    assert words in found["message"]
    assert "secret" not in found["message"]
    assert "2.75" not in found["message"]


def test_it_refuses_answers_with_other_ids():
    with pytest.raises(BadCompetition) as caught:
        decode_answers(b"id,x\na,1\nb,2\nc,3\ne,4\n", competition(), IDS)

    assert [p["key"] for p in caught.value.problems] == ["id", "id"]


def test_answers_keep_extra_columns_for_custom_metrics_only():
    data = b"id,weight,x,Usage\na,0.5,1,Public\nb,07,2,Private\nc,1,3,Private\nd,2,4,Public\n"
    answers = decode_answers(data, competition(), IDS)

    assert answers.private.frame().to_dict("list") == {
        "id": ["b", "c"],
        "x": [2.0, 3.0],
        "weight": ["07", "1"],
    }
    assert answers.private.arrays.tolist() == [2.0, 3.0]


def test_a_custom_metric_cannot_change_the_answers():
    answers = decode_answers(MARKED, competition(), IDS)
    frame = answers.private.frame()
    frame.loc[:, "x"] = 0.0

    assert answers.private.frame()["x"].tolist() == [2.0, 4.0]


def test_labels_and_items_share_codes_with_the_answers():
    for kind in ("label", "list"):
        columns = f'x = {{ kind = "{kind}" }}'
        data = b"id,x\na,p\nb,q\nc,p\nd,r\n"
        answers = decode_answers(data, competition(columns, metric="accuracy_score"), IDS)
        checked = answers.checker.check(b"id,x\na,r\nb,new\nc,q\nd,other\n")
        truth = answers.private.arrays
        predicted = checked.decoded.arrays(answers.labels)
        true_codes, codes = (
            (truth, predicted) if kind == "label" else (truth.codes, predicted.codes)
        )

        assert true_codes.dtype == codes.dtype == np.int64
        p, q, r = true_codes[[0, 1, 3]].tolist()
        assert true_codes.tolist() == [p, q, p, r]
        assert [codes[0], codes[2]] == [r, q]
        assert min(codes[1], codes[3]) > max(p, q, r)
        assert codes[1] != codes[3]


def test_several_columns_become_one_matrix():
    columns = 'x = { kind = "number" }\ny = { kind = "number" }'
    answers = decode_answers(b"y,id,x\n5,a,1\n6,b,2\n7,c,3\n8,d,4\n", competition(columns), IDS)

    assert answers.private.arrays.tolist() == [[1.0, 5.0], [2.0, 6.0], [3.0, 7.0], [4.0, 8.0]]
    assert answers.private.arrays.flags.f_contiguous

    columns = 'x = { kind = "label" }\ny = { kind = "label" }'
    tiny = competition(columns, metric="accuracy_score")
    answers = decode_answers(b"id,x,y\na,k,m\nb,l,m\nc,k,n\nd,k,m\n", tiny, IDS)

    assert answers.private.arrays.shape == (4, 2)
    assert answers.private.arrays.dtype == np.int64


def test_answers_know_about_how_much_memory_they_take():
    ids = public_ids([f"row{i}" for i in range(1000)])
    data = "id,x\n" + "".join(f"row{i},{i}\n" for i in range(1000))
    answers = decode_answers(data.encode(), competition(), ids)

    assert 8_000 + ids.nbytes <= answers.nbytes <= 3 * (8_000 + ids.nbytes)


def test_what_no_metric_can_ask_for_is_not_kept():
    data = b"id,x,feature,Usage\na,1,k,Public\nb,2,l,Private\nc,3,m,Ignored\nd,4,n,Private\n"
    whole = decode_answers(data, competition(), IDS)
    lean = decode_answers(data, competition(), IDS, frames=False)

    assert whole.private.frame()["feature"].tolist() == ["l", "n"]
    assert lean.nbytes < whole.nbytes
    assert lean.private.rows.tolist() == [1, 3]
    assert lean.private.arrays.tolist() == [2.0, 4.0]
    submission = b"id,x\nd,4\nb,3\nc,3\na,1\n"
    scorer = scorer_for(competition(), None)
    scores = [grade(submission, competition(), a, None, scorer).score for a in (whole, lean)]
    assert scores[0] == scores[1] == pytest.approx(0.5**0.5)


@pytest.mark.parametrize("frames", [True, False])
def test_a_misspelt_usage_is_named_whatever_is_kept(frames):
    data = MARKED.replace(b"Usage", b" usage")
    with pytest.raises(BadCompetition) as caught:
        decode_answers(data, competition(), IDS, frames=frames)

    assert caught.value.problems[0]["key"] == " usage"


@pytest.mark.parametrize("kind", ["label", "list"])
@pytest.mark.parametrize("strange", [(), (7, 4321)], ids=["all known", "strangers"])
def test_many_names_are_found_as_few_are(kind, strange):
    rng = np.random.default_rng(2)
    rows = [f"r{n}" for n in range(12_000)]
    names = [f"n{n:x}" for n in rng.permutation(len(rows))]
    tiny = competition(f'x = {{ kind = "{kind}" }}', metric="accuracy_score")
    lines = "".join(f"{row},{name}\n" for row, name in zip(rows, names, strict=True))
    answers = decode_answers(("id,x\n" + lines).encode(), tiny, public_ids(rows))
    given = [f"new{n}" if n in strange else names[-n] for n in range(len(rows))]
    data = "id,x\n" + "".join(f"{row},{name}\n" for row, name in zip(rows, given, strict=True))

    fast = answers.checker.check_fast(data.encode())
    assert fast is not None
    both = (fast, answers.checker.check_exactly(data.encode()))
    codes = [checked.decoded.arrays(answers.labels) for checked in both]
    true, *coded = (
        side if kind == "label" else side.codes for side in (answers.private.arrays, *codes)
    )
    code_of = dict(zip(names, true.tolist(), strict=True))
    for side in coded:
        assert [code_of.get(name, -1) for name in given] == [
            code if code <= true.max() else -1 for code in side.tolist()
        ]


@pytest.mark.parametrize("largest", [9, 10**17], ids=["close together", "far apart"])
def test_whole_numbers_are_coded_whatever_their_range(largest):
    columns = 'x = { kind = "list", items = "integer" }'
    data = f"id,x\na,5 {largest}\nb,05\nc,7 5\nd,{largest}\n".encode()
    tiny = competition(columns, metric="top_k_error", parameters="{ k = 1 }")
    answers = decode_answers(data, tiny, IDS)
    five, seven, most = (answers.private.arrays.codes[place] for place in (0, 3, 1))

    assert len({five, seven, most}) == 3
    assert answers.private.arrays.codes.tolist() == [five, most, five, seven, five, most]
    assert answers.checker.check_fast(data) is not None


@pytest.mark.parametrize(
    ("columns", "metric", "cells"),
    [
        ('x = { kind = "number" }', "root_mean_squared_error", ["1", "2.50", " 3", '"4"']),
        ('x = { kind = "boolean" }', "accuracy_score", ["True", "False", "True", "True"]),
        ('x = { kind = "label" }', "accuracy_score", ["cat", '"d,o""g"', "cat", "ant"]),
        ('x = { kind = "list" }', "mean_average_precision_at_k_score", ["p q", "q", "r", "p"]),
        ('x = { kind = "mask", height = 4, width = 4 }', "dice_score", ["1 3", "", "2 2 9 1", ""]),
    ],
)
def test_the_answers_as_a_submission_score_perfectly(columns, metric, cells):
    usages = ["Public", "Private", "Ignored", "Private"]
    rows = zip("dbca", cells, usages, strict=True)
    data = ("id,x,extra,Usage\n" + "".join(f"{i},{c},e,{u}\n" for i, c, u in rows)).encode()
    parameters = "{ k = 2 }" if "at_k" in metric else "{}"
    tiny = competition(columns, metric=metric, parameters=parameters)
    answers = decode_answers(data, tiny, IDS)
    graded = grade(answers_as_submission(data, tiny), tiny, answers, None, scorer_for(tiny, None))

    best = 1.0 if tiny.metric.higher_is_better else 0.0
    assert (graded.score, graded.public_score, graded.warnings) == (best, best, ())


def test_rendered_answers_survive_every_kind_of_cell():
    cells = ["a\rb", "a\nb", 'say "hi"', "x, y"]
    quoted = ['"' + cell.replace('"', '""') + '"' for cell in cells]
    data = "id,x,Usage\n" + "".join(
        f"{i},{cell},Private\n" for i, cell in zip("abcd", quoted, strict=True)
    )
    tiny = competition('x = { kind = "text" }')
    checked = Checker(tiny.submission, IDS).check(answers_as_submission(data.encode(), tiny))

    assert checked.decoded.others["x"].tolist() == cells


def test_ignored_rows_are_rendered_with_values_that_pass():
    data = b"id,x,Usage\na,,Ignored\nb,2,Private\nc,-1,Ignored\nd,4,Public\n"

    assert answers_as_submission(data, competition()) == b"id,x\na,2\nb,2\nc,2\nd,4\n"


def test_answers_that_cannot_be_read_cannot_be_rendered():
    with pytest.raises(BadCompetition, match="column 'x' is missing"):
        answers_as_submission(b"id,y\na,1\n", competition())
    with pytest.raises(BadCompetition, match="the file is empty"):
        answers_as_submission(b"", competition())
