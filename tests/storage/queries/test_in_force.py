"""Which regrades are in force, now and at a time, and with one that is only proposed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from app.domain.states import RegradeState
from app.storage.queries.regrades import regrades
from app.storage.queries.regrades.in_force import Basis, in_force
from app.storage.queries.regrades.regrades import RegradeRecord
from tests.storage.make import NOON, World

HOUR = timedelta(hours=1)


def add(world: World, name: str, competition: str, **over: Any) -> None:
    fields: dict[str, Any] = {
        "id": name, "competition": competition, "version_id": None, "podium_version": "1",
        "environment": "e", "created_by": None, "created_at": NOON, **over,
    }  # fmt: skip
    world.database.write(lambda session: regrades.add(session, RegradeRecord(**fields)))


def test_one_regrade_of_a_competition_is_in_force_at_any_time(world: World) -> None:
    applied = {"state": RegradeState.APPLIED}
    add(world, "b1", "bikes", applied_at=NOON, superseded_at=NOON + HOUR, **applied)
    add(world, "b2", "bikes", applied_at=NOON + HOUR, version_id=world.version.id, **applied)
    add(world, "b3", "bikes", state=RegradeState.READY)
    add(world, "l1", "leaves", applied_at=NOON, superseded_at=NOON + 2 * HOUR, **applied)
    add(world, "l2", "leaves", state=RegradeState.READY)
    add(world, "a1", "apples", applied_at=NOON + 3 * HOUR, **applied)

    def found(**given: Any) -> list[tuple[str, int | None]]:
        with world.database.read() as session:
            return [(one.id, one.version) for one in in_force(session, Basis(**given))]

    assert found() == [("a1", None), ("b2", 1)]
    assert found(as_of=NOON - HOUR) == []
    assert found(as_of=NOON) == [("b1", None), ("l1", None)]
    assert found(as_of=NOON + HOUR) == [("b2", 1), ("l1", None)]
    assert found(as_of=NOON + 2 * HOUR) == [("b2", 1)]
    assert found(proposed="l2") == [("a1", None), ("b2", 1), ("l2", None)]
    assert found(proposed="b3") == [("a1", None), ("b3", None)]  # in place of the one in force
