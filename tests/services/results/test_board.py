"""Pages of a board, and how many experiments are compared at once."""

from __future__ import annotations

import pytest

from app.domain.result_choices import GroupBy
from app.errors import Invalid, NotFound
from app.services.experiments.amendments import amend
from app.services.results import board
from app.services.results.inputs.scope import ResultFilter
from app.services.runtime.context import Context
from tests.services.results.make import import_medals


def test_two_to_fifty_experiments_are_compared_at_once(context: Context) -> None:
    names = [f"agent-{number:02}" for number in range(51)]
    for name in names:
        import_medals(context, name, {"bikes": ["gold", None], "leaves": [None, None]})

    def labels(some: list[str]) -> list[str]:
        found, _ = board.compare_many(context, some, ResultFilter(), "any_medal")
        return [one.experiment.name for one in found]

    assert labels(names[:2]) == names[:2]
    assert labels(names[:50]) == names[:50]
    with pytest.raises(Invalid, match="at most 50"):
        labels(names)
    with pytest.raises(Invalid, match="at least two"):
        labels(names[:1] * 2)


def test_pages_of_a_board_have_each_experiment_once_and_the_best_first(context: Context) -> None:
    medals: dict[str, list[str | None]] = {
        "d": ["gold", "gold"], "a": [None, None], "c": ["gold", None], "b": ["gold", None],
        "e": [None, None],
    }  # fmt: skip
    for name, won in medals.items():
        import_medals(context, name, {"bikes": won, "leaves": [None, None]})

    def page(after: str | None, limit: int | None) -> tuple[list[str], int, str | None]:
        found = board.experiment_board(context, ResultFilter(), None, after=after, limit=limit)
        assert (found.total, found.competitions) == (5, ("bikes", "leaves"))
        assert [rates["all"].rates["any_medal"].mean for _, rates in found.rows] == [
            25.0 * sum(each is not None for each in medals[one.experiment.name])
            for one, _ in found.rows
        ]
        return [one.experiment.name for one, _ in found.rows], found.before, found.next_cursor

    for _ in range(2):  # the second time the rates are kept ones
        assert page(None, None) == (["d", "b", "c", "a", "e"], 0, None)
        assert page(None, 2) == (["d", "b"], 0, "b")
        assert page("b", 2) == (["c", "a"], 2, "a")
        assert page("a", 2) == (["e"], 4, None)
        assert page("c", 2) == (["a", "e"], 3, None)
        assert page("e", 2) == ([], 5, None)
    with pytest.raises(Invalid, match="not the next_cursor"):
        page("nobody", 2)


def test_an_experiment_is_compared_with_another_that_is_there(context: Context) -> None:
    for name, won in (("a", ["gold", "gold"]), ("b", [None, "gold"])):
        import_medals(context, name, {"bikes": won, "leaves": [None, None]})

    first, second, found = board.compare(context, "b", "a", ResultFilter(), "any_medal")
    assert (first.experiment.name, second.experiment.name) == ("b", "a")
    assert found.difference == -25.0
    with pytest.raises(Invalid, match="Compare an experiment with another one"):
        board.compare(context, "a", "a", ResultFilter(), "any_medal")
    for names in (("a", "nobody"), ("nobody", "a"), ("a,b", "b")):
        with pytest.raises(NotFound, match="There is no experiment"):
            board.compare(context, *names, ResultFilter(), "any_medal")
    order, table, absent = board.items(context, ResultFilter(), "any_medal", ["b", "a"])
    assert [one.experiment.name for one in order] == ["a", "b"]
    assert [one.experiment for one in table.abilities] == ["a", "b"]
    assert ([one.competition for one in table.items], absent) == (["bikes", "leaves"], [])


def test_groups_by_resources_follow_an_amendment(context: Context) -> None:
    import_medals(context, "a", {"bikes": ["gold", None]})

    def groups() -> set[str]:
        ((_, rates),) = board.experiment_board(context, ResultFilter(), GroupBy.RESOURCES).rows
        return {*rates} - {"all"}

    before = groups()
    amend(context, "a", {"resources": {"hours": 24.0, "gpus": 1.0}}, reason="x", by=None)
    assert groups() == {"24 hours, 1 gpus"} != before
