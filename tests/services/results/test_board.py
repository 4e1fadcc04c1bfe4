"""How many experiments are compared at once."""

from __future__ import annotations

import pytest

from app.errors import Invalid
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
