"""The list of experiments: what each came to, and its order by a number that is computed."""

from __future__ import annotations

import pytest

from app.domain.states import RunState
from app.services.results.cells import heat_map
from app.services.results.overview import page
from app.services.runtime.context import Context
from tests.services.results.make import add_imports, closed_run, import_medals, send
from tests.storage.make import NOON, World, add_run, add_version


@pytest.fixture
def three(context: Context) -> None:
    """Experiments with every medal, with half of them, and without a result."""
    import_medals(context, "all", {"bikes": ["gold", "gold"]})
    import_medals(context, "half", {"bikes": ["gold", None]})
    import_medals(context, "another half", {"bikes": [None, "silver"]})
    import_medals(context, "nothing", {})


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(
    ("descending", "expected"),
    [
        (True, ["all", "another half", "half", "nothing"]),  # without the number: always last
        (False, ["another half", "half", "all", "nothing"]),
    ],
)
def test_a_computed_order_goes_by_the_number_then_the_name(
    context: Context, descending: bool, expected: list[str]
) -> None:
    def names(limit: int, offset: int) -> list[str]:
        found, total = page(
            context, q="", sort="any_medal", descending=descending, limit=limit, offset=offset
        )
        assert total == 4
        return [one.experiment.name for one in found]

    assert names(9, 0) == expected
    assert [name for offset in range(0, 4, 2) for name in names(2, offset)] == expected
    assert names(3, 1) == expected[1:]
    by_name, _ = page(context, q="", sort="name", descending=descending, limit=9, offset=0)
    found = [one.experiment.name for one in by_name]
    assert found == sorted(expected, reverse=descending)


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("gold", ["all", "half", "another half"]),
        ("silver", ["another half", "all", "half"]),
        ("valid", ["all", "another half", "half"]),
        ("runs", ["all", "another half", "half"]),
    ],
)
def test_each_rate_and_the_runs_are_an_order(
    context: Context, sort: str, expected: list[str]
) -> None:
    found, _ = page(context, q="", sort=sort, descending=True, limit=9, offset=0)
    assert [one.experiment.name for one in found] == [*expected, "nothing"]


def test_places_times_and_costs_are_an_order(context: Context) -> None:
    version = context.database.write(lambda session: add_version(session, "bikes"))
    sent = {"slow": (60.0, 9.0, 1), "dear": (30.0, 90.0, 2), "good": (10.0, 1.0, 0)}
    for name, (seconds, cost, better) in sent.items():
        run = add_run(
            context.database, version, name, state=RunState.CLOSED, closed_at=NOON,
            usage={"seconds": seconds, "cost_usd": cost},
        )  # fmt: skip
        send(context, run, 1, better=better, equal=0, worse=3 - better)
    add_run(context.database, version, "open")

    def names(sort: str, *, descending: bool) -> list[str]:
        found, _ = page(context, q="", sort=sort, descending=descending, limit=9, offset=0)
        return [one.experiment.name for one in found]

    for sort, expected in (
        ("seconds", ["slow", "dear", "good"]),
        ("cost_usd", ["dear", "slow", "good"]),
        ("percentile", ["good", "slow", "dear"]),
    ):
        assert names(sort, descending=True) == [*expected, "open"]
        assert names(sort, descending=False) == [*expected[::-1], "open"]


def test_the_results_at_all_versions_of_a_competition_count(context: Context, here: World) -> None:
    board = {"teams": 3, "gold": 0.1, "silver": 0.2, "bronze": 0.3, "median": 0.5}
    newer = context.database.write(
        lambda session: add_version(session, "bikes", number=2, leaderboard=board)
    )
    closed_run(context, here.version, 2, {"medal": "gold"})
    closed_run(context, newer, 3, {"medal": None})
    add_imports(context, "first", {"bikes": {4: None, 5: "bronze"}})

    (found,) = page(context, q="first", sort="name", descending=False, limit=9, offset=0)[0]

    assert (found.competitions, found.rated, found.counted) == (1, 1, 4)
    assert found.rates is not None
    assert (found.rates["any_medal"], found.rates["gold"]) == (50.0, 25.0)


def test_the_percentile_is_the_mean_over_runs_that_have_a_place(
    context: Context, here: World
) -> None:
    places = [(0, 1, 3), (3, 0, 1), (None, None, None)]  # better, equal and worse teams
    for seed, (better, equal, worse) in enumerate(places, start=2):
        place = {"better": better, "equal": equal, "worse": worse}
        closed_run(context, here.version, seed, place)

    (found,) = page(context, q="first", sort="name", descending=False, limit=9, offset=0)[0]

    assert found.percentile == (100.0 + 25.0) / 2
    assert heat_map(context, "first").summary.percentile == found.percentile
