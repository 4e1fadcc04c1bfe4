"""Properties: no exception but a rejection, and never another verdict than the plain judge's."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain.verdict import Rejection
from app.grading.check import Checker
from app.grading.checked_file import CheckedFile
from app.grading.columns.labels import Encoded
from app.metrics.arrays import Boxes, Masks
from tests.examples import examples
from tests.grading.make import competition, public_ids
from tests.grading.mutants import COLUMNS, PROBABILITIES, damage, files
from tests.grading.oracle import UNREADABLE, Unreadable, judge

ID_SETS = [["1", "2", "3"], ["001", "1", "x,y"], ["é", "a b"], ["7"], ["100", "99", "98", "97"]]
FORMS = {name: competition(f"{name} = {spec}").submission for name, spec in COLUMNS.items()}
FORMS["all"] = competition("\n".join(f"{n} = {s}" for n, s in COLUMNS.items())).submission
FORMS["two"] = competition(f"num = {COLUMNS['num']}\nany = {COLUMNS['any']}").submission
FORMS["p"] = competition(PROBABILITIES).submission
QUICK = settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def values_of(checked: CheckedFile) -> dict:
    """The decoded columns as plain lists, to compare with the judge's."""
    found = {}
    for place, name in enumerate(checked.schema.bounds):
        found[name] = checked.decoded.numbers[:, place].tolist()
    for name, values in checked.decoded.others.items():
        found[name] = plain(values)
    return found


def plain(values):
    match values:
        case Encoded():
            names = values.names.to_pylist()
            if isinstance(values.codes, np.ndarray):
                return [names[code] for code in values.codes]
            texts = [names[code] for code in values.codes.codes]
            return cut(texts, values.codes.offsets)
        case Masks():
            runs = zip(values.starts.tolist(), values.lengths.tolist(), strict=True)
            pixels = cut([list(range(s, s + n)) for s, n in runs], values.offsets)
            return [[pixel for run in row for pixel in run] for row in pixels]
        case Boxes():
            return cut(values.values.tolist(), values.offsets)
    return values.tolist()


def cut(things: list, offsets) -> list[list]:
    ends = offsets.tolist()
    return [things[start:end] for start, end in pairwise(ends)]


def compare(checker: Checker, data: bytes, ids: list[str]) -> None:
    """The verdict must be the plain judge's, and the fast way must not have one of its own."""
    form = checker.schema.form
    fast = checker.check_fast(data)
    try:
        problems, values = judge(data, form, ids)
    except Unreadable:
        assert fast is None
        with pytest.raises(Rejection) as caught:
            checker.check(data)
        codes = {v.code.value for v in caught.value.verdict.violations}
        assert codes & UNREADABLE, codes
        return
    if problems:
        assert fast is None
        with pytest.raises(Rejection) as caught:
            checker.check(data)
        verdict = caught.value.verdict
        found = {(v.code.value, v.column) for v in verdict.violations}
        foreign = found == {("not_csv", None)} and "missing_column" in dict(problems)
        assert foreign or found == problems
        assert len(found) == len(verdict.violations)
        text = data.decode().removeprefix("\ufeff").replace('"', "")
        for violation in verdict.violations:
            assert len(violation.examples) <= 5
            for example in violation.examples:
                assert len(example) <= 60
                assert example in ids or example.removesuffix("...").replace('"', "") in text
        return
    exact = checker.check_exactly(data)
    assert repr(values_of(exact)) == repr(values)  # repr tells -0.0 from 0.0
    if fast is not None:
        assert repr(values_of(fast)) == repr(values)
        assert fast.warnings == exact.warnings
        assert fast.frame().equals(exact.frame())


@pytest.mark.parametrize("name", FORMS)
@QUICK
@given(choice=st.data())
def test_the_verdict_is_that_of_the_plain_judge(name, choice):
    ids = choice.draw(st.sampled_from(ID_SETS))
    form = FORMS[name]
    data = choice.draw(files(list(form.columns), ids))

    compare(Checker(form, public_ids(ids)), data, ids)


@QUICK
@given(choice=st.data())
def test_random_cells_get_the_verdict_of_the_plain_judge(choice):
    name = choice.draw(st.sampled_from([n for n in FORMS if n in COLUMNS]))
    alphabet = st.sampled_from('0123456789+-.eE ,"\n\rab|TrueFals\tnNxé')
    rows = [
        f'{i},"{choice.draw(st.text(alphabet, max_size=8))}"' if choice.draw(st.booleans())
        else f"{i},{choice.draw(st.text(alphabet, max_size=8))}"
        for i in "12"
    ]  # fmt: skip
    data = f"id,{name}\n{rows[0]}\n{rows[1]}\n".encode()

    compare(Checker(FORMS[name], public_ids(["1", "2"])), data, ["1", "2"])


@QUICK
@given(data=st.binary(max_size=200))
def test_random_bytes_are_refused(data):
    compare(Checker(FORMS["two"], public_ids(["1", "2"])), data, ["1", "2"])


@QUICK
@given(body=st.lists(st.sampled_from(list(b'12,,,"" \n\r\nk\xe9\x00')), max_size=40))
def test_random_bytes_below_a_good_header_get_the_verdict_of_the_plain_judge(body):
    data = b"id,num,any\n" + bytes(body)

    compare(Checker(FORMS["two"], public_ids(["1", "2"])), data, ["1", "2"])


@settings(QUICK, max_examples=examples(15))
@given(choice=st.data())
def test_a_file_larger_than_the_readers_blocks_gets_the_verdict_of_the_plain_judge(choice):
    ids = [str(i) for i in range(400)]
    filler = "y" * 3000 + choice.draw(st.sampled_from(["", " ", ",", '"', "\n", "é"])) + "z" * 3000
    quoted = '"' + filler.replace('"', '""') + '"'
    data = ("id,maybe\n" + "".join(f"{i},{quoted}\n" for i in ids)).encode()
    if choice.draw(st.booleans()):
        data = damage(choice.draw, data)

    compare(Checker(FORMS["maybe"], public_ids(ids)), data, ids)
