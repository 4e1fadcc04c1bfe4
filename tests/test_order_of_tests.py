"""The order of a parallel run loses no test, and speaks of tests that are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.order_of_tests import COSTS, LONG_TESTS, TOGETHER, arrange, cost

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("processes", [2, 3, 4, 6, 16])
def test_each_process_has_as_many_tests_and_no_test_is_lost(
    request: pytest.FixtureRequest, processes: int
) -> None:
    items = request.session.items

    ordered = arrange(items, processes)

    assert len(ordered) == len(items)
    assert set(ordered) == set(items)


def test_parts_take_about_as_long(request: pytest.FixtureRequest) -> None:
    items = request.session.items
    if len(items) < 14_000:
        pytest.skip("only some tests are run")

    ordered = arrange(items, 4)

    ends = [len(items) * number // 4 for number in range(5)]
    costs = [sum(map(cost, ordered[ends[n] : ends[n + 1]])) for n in range(4)]
    assert max(costs) < 1.25 * min(costs)


@pytest.mark.parametrize("name", sorted({*LONG_TESTS, *TOGETHER}))
def test_a_long_test_is_there(name: str) -> None:
    path, _, function = name.partition("::")

    found = [file for file in (ROOT / "tests").rglob("test_*.py") if str(file).endswith(path)]

    assert found
    assert any(f"def {function}" in file.read_text() for file in found)


@pytest.mark.parametrize("folder", COSTS)
def test_a_folder_with_a_cost_is_there(folder: str) -> None:
    assert list((ROOT / folder).rglob("test_*.py"))
