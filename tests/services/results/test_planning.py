"""What a plan asks for, and which numbers it refuses."""

from __future__ import annotations

import pytest

from app.errors import Invalid
from app.services.results.inputs.scope import ResultFilter
from app.services.results.planning import from_experiments, from_spread
from app.services.runtime.context import Context
from app.statistics.planning import Spread
from tests.services.results.make import import_medals

SPREAD = Spread(between=10.0, within=20.0)


def test_each_pair_of_numbers_is_planned_once() -> None:
    found = from_spread(SPREAD, [22, 75, 22], [3, 1], power=0.8, rate="any_medal")

    sizes = [(one.competitions, one.seeds) for one in found.sizes]
    assert sizes == [(22, 1), (22, 3), (75, 1), (75, 3)]
    assert len(from_spread(SPREAD, range(1, 21), [3], power=0.8, rate="gold").sizes) == 20


@pytest.mark.parametrize("numbers", [[], [0], [5, 0], [-1], [100_001], list(range(1, 22))])
def test_numbers_out_of_range_are_refused_by_name(numbers: list[int]) -> None:
    with pytest.raises(Invalid, match=r"^competitions: give 1 to 20 numbers from 1 to 100,000"):
        from_spread(SPREAD, numbers, [3], power=0.8, rate="any_medal")
    with pytest.raises(Invalid, match=r"^seeds: give 1 to 20 numbers"):
        from_spread(SPREAD, [22], numbers, power=0.8, rate="any_medal")


def test_the_spreads_of_two_experiments_are_planned_for_their_competitions(
    context: Context,
) -> None:
    import_medals(context, "first", {"a": ["gold", None], "b": ["gold", "gold"]})
    import_medals(context, "second", {"a": [None, None], "b": ["gold", None]})

    found = from_experiments(
        context, ["first", "second"], ResultFilter(), [], [2], power=0.8, rate="any_medal"
    )

    assert [one.experiment.name for one in found.basis] == ["first", "second"]
    assert [one.competitions for one in found.sizes] == [2]
    assert found.spread.within > 0


@pytest.mark.parametrize("names", [[], ["first"]])
def test_one_experiment_is_no_basis(context: Context, names: list[str]) -> None:
    import_medals(context, "first", {"a": ["gold", None]})

    with pytest.raises(Invalid, match="Give two different experiments"):
        from_experiments(context, names, ResultFilter(), [], [2], power=0.8, rate="any_medal")
