"""Files with a mistake in every row or column are refused in time proportional to the file."""

import time
import tracemalloc

import pyarrow as pa
import pytest

from app.domain.verdict import Rejection, Violation
from app.grading.check import Checker
from app.grading.ids.public_ids import PublicIds
from tests.grading.make import competition, public_ids
from tests.processor_time import takes_at_most

pytestmark = pytest.mark.large
ROWS, LABELS, COLUMNS, NAMES = 10_000, 5_000, 2_000, 50_000


def seconds_to_refuse(columns: str, ids: int, data: str, metric: str) -> tuple[float, Rejection]:
    declared = competition(columns, metric=metric).submission
    judge = Checker(declared, public_ids([f"r{row}" for row in range(ids)]))
    started = time.process_time()
    with pytest.raises(Rejection) as refused:
        judge.check(data.encode())
    return time.process_time() - started, refused.value


@pytest.mark.parametrize("kind", ["label", "list"])
def test_unknown_labels_are_not_compared_with_every_label(kind: str) -> None:
    labels = ",".join(f'"Label{number}"' for number in range(LABELS))
    metric = {"label": "accuracy_score", "list": "multilabel_f1_score"}[kind]
    rows = "".join(f"r{row},{'zz' if row else 'label7'}\n" for row in range(ROWS))
    seconds, refused = seconds_to_refuse(
        f"x = {{ kind = '{kind}', labels = [{labels}] }}", ROWS, f"id,x\n{rows}", metric
    )

    (violation,) = refused.verdict.violations
    assert f"{ROWS} " in violation.message
    assert "'Label7' is expected" in violation.message
    assert seconds < 3  # it took 9


def test_millions_of_unknown_items_of_a_list_are_counted_together() -> None:
    """A body of 220 kB, packed, kept a process that checks files busy for half a minute."""
    items, others = 1_000_000, "x y x z w v u"
    declared = competition(
        "x = { kind = 'list', labels = ['a', 'b'] }", metric="multilabel_f1_score"
    )
    judge = Checker(declared.submission, public_ids(["r0", "r1"]))

    def refuse(item: str) -> Violation:
        with pytest.raises(Rejection) as refused:
            judge.check(f"id,x\nr0,a {others}{f' {item}' * items}\nr1,B b\n".encode())
        (violation,) = refused.value.verdict.violations
        return violation

    violation = refuse("1")
    assert violation.message.startswith(f"{items + 8} ")
    assert "first in row 1: expected one of 'a', 'b'" in violation.message
    assert violation.examples == ("x", "y", "z", "w", "v")
    # Counted one by one, unknown items took six times as long as known ones.
    assert takes_at_most(3, lambda: refuse("1"), lambda: refuse("a"))


def test_missing_columns_are_not_compared_with_every_name() -> None:
    columns = "\n".join(f"C{number} = {{ kind = 'number' }}" for number in range(COLUMNS))
    names = ",".join([*(f"d{number}" for number in range(NAMES)), " c7 ", "C8", "C8"])
    seconds, refused = seconds_to_refuse(columns, 1, f"id,{names}\nr0\n", "root_mean_squared_error")

    found = {violation.column: violation for violation in refused.verdict.violations}
    assert "there is ' c7 '" in found["C7"].message
    assert "stands 2 times" in found["C8"].message
    assert found["C9"].examples == ("d0", "d1", "d2", "d3", "d4")
    assert seconds < 3  # it took 7


def test_repeated_columns_are_not_looked_for_one_by_one() -> None:
    columns = "\n".join(f"C{number} = {{ kind = 'number' }}" for number in range(COLUMNS))
    twice = [f"C{number}" for number in (*range(COLUMNS), *range(COLUMNS))]
    names = ",".join([*twice, *(f"d{number}" for number in range(NAMES))])
    seconds, refused = seconds_to_refuse(columns, 1, f"id,{names}\nr0\n", "root_mean_squared_error")

    found = [violation.message for violation in refused.verdict.violations]
    assert found[0] == "column 'C0' stands 2 times in the header: keep one"
    assert seconds < 1  # it took 3


def test_labels_of_boxes_are_not_looked_for_one_by_one() -> None:
    labels = ",".join(f'"Label{number}"' for number in range(LABELS))
    column = f"x = {{ kind = 'boxes', fields = ['l'], label = 'l', labels = [{labels}] }}"
    last = f"Label{LABELS - 1}"
    data = f"id,x\nr0,{f'{last} ' * 3 * ROWS}\nr1,{last}x\n"
    seconds, refused = seconds_to_refuse(column, 2, data, "point_in_box_f1_score")

    (violation,) = refused.verdict.violations
    assert violation.examples == (f"{last}x",)
    assert seconds < 1  # it took 4


def test_an_unknown_id_is_not_compared_with_all_others() -> None:
    ids = PublicIds.from_columns([pa.array(range(400_000)).cast(pa.string())])
    judge = Checker(competition("x = { kind = 'number' }").submission, ids)

    def refuse(unknown: str) -> str:
        with pytest.raises(Rejection) as refused:
            judge.check(f"id,x\n{unknown},1\n".encode())
        return refused.value.verdict.violations[1].message

    assert "the ids look re-typed, '7.0' stands where '7' is expected" in refuse("7.0")
    assert "ids look like '0', '1'" in refuse("nothing like it")
    # It took four times as long.
    assert takes_at_most(2.5, lambda: refuse("nothing like it"), lambda: refuse("7.0"))


def test_a_list_of_very_many_items_takes_little_memory() -> None:
    column = "x = { kind = 'list', items = 'integer' }"
    tracemalloc.start()
    try:
        cell = "1 " * (20 * ROWS)
        seconds_to_refuse(column, 2, f"id,x\nr0,{cell}\nr1,x\n", "multilabel_f1_score")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40 * len(cell)  # it took 70
