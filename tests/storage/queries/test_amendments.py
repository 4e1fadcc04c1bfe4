"""Amendments of one experiment, and what experiments and their results were at a time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy.orm import Session

from app.domain.states import AmendmentKind
from app.storage.queries import amendments
from app.storage.queries.amendments import AmendmentRecord
from tests.storage.make import NOON, World

HOUR = timedelta(hours=1)


def withdrawn(competition: str, imported: int) -> dict[str, Any]:
    """What was withdrawn: the results at a competition, imported in this hour."""
    result = {
        "id": 1, "experiment": "first", "competition": competition, "made": True, "valid": True,
        "score": 0.5, "medal": None, "above_median": False, "source": "x", "document": {},
        "imported_at": (NOON + imported * HOUR).isoformat(),
    }  # fmt: skip
    return {"results": [{**result, "seed": seed} for seed in (3, 4)]}


def test_what_was_amended_and_withdrawn_since_a_time(world: World) -> None:
    rows = [
        ("first", AmendmentKind.AMENDED, {"agent": "a"}),
        ("first", AmendmentKind.WITHDRAWN, withdrawn("bikes", 0)),
        ("second", AmendmentKind.AMENDED, {"model": "m"}),
        ("first", AmendmentKind.AMENDED, {"agent": "b", "notes": "n"}),
        ("first", AmendmentKind.WITHDRAWN, withdrawn("leaves", 3)),
    ]

    def write(session: Session) -> list[int | None]:
        return [
            amendments.add(session, AmendmentRecord(
                experiment=name, kind=kind, before=before, after=None, reason="x", amended_by=None,
                results=2 * (kind is AmendmentKind.WITHDRAWN), at=NOON + hour * HOUR,
            )).id
            for hour, (name, kind, before) in enumerate(rows, start=1)
        ]  # fmt: skip

    ids = world.database.write(write)
    with world.database.read() as session:

        def of_first(after: int, limit: int | None) -> list[int | None]:
            found = amendments.of_experiment(session, "first", after=after, limit=limit)
            return [one.id for one in found]

        def results(hour: int) -> list[tuple[str, int]]:
            since = amendments.withdrawn_since(session, NOON + hour * HOUR)
            return [(one.competition, one.seed) for one in since]

        assert of_first(0, None) == [ids[0], ids[1], ids[3], ids[4]]
        assert of_first(ids[0] or 0, 2) == [ids[1], ids[3]]
        assert amendments.withdrawn(session) == {"first": 4}
        assert amendments.withdrawn(session, as_of=NOON + 2 * HOUR) == {"first": 2}
        bikes, leaves = ([(slug, seed) for seed in (3, 4)] for slug in ("bikes", "leaves"))
        expected = [[], bikes, bikes, [], leaves, leaves, []]
        assert [results(hour) for hour in (-1, 0, 1, 2, 3, 4, 5)] == expected
        fields = [amendments.fields_then(session, NOON + hour * HOUR) for hour in (0, 1, 3, 4)]
    model = {"second": {"model": "m"}}
    assert fields == [
        {"first": {"agent": "a", "notes": "n"}, **model}, {"first": rows[3][2], **model},
        {"first": rows[3][2]}, {},
    ]  # fmt: skip
