"""Files that are known to contain leaked answers, of each competition."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy.orm import Session

from app.storage.queries.reviews import known_leaks
from app.storage.queries.reviews.known_leaks import KnownLeakRecord
from tests.storage.make import NOON, World, add_submission, make_submission

FIRST, SECOND = "b" * 64, "a" * 64  # the first one was listed earlier


def test_a_file_is_listed_and_removed_at_one_competition(world: World) -> None:
    def listed(session: Session, competition: str) -> list[str]:
        return [one.sha256 for one in known_leaks.of_competition(session, competition)]

    def write(session: Session) -> list[bool]:
        for competition in ("bikes", "leaves"):
            for hour, sha256 in enumerate((FIRST, SECOND)):
                new = KnownLeakRecord(
                    competition=competition, sha256=sha256, note="", added_by=None,
                    at=NOON + timedelta(hours=hour),
                )  # fmt: skip
                assert known_leaks.add(session, new)
        assert listed(session, "bikes") == [FIRST, SECOND]
        return [known_leaks.remove(session, "bikes", FIRST) for _ in range(2)]

    assert world.database.write(write) == [True, False]
    with world.database.read() as session:
        assert listed(session, "bikes") == [SECOND]
        assert listed(session, "leaves") == [FIRST, SECOND]


def test_the_submissions_of_a_file_at_a_competition_are_found_with_their_runs(world: World) -> None:
    sent = [world.submit(sha256=sha256).id for sha256 in (FIRST, SECOND, FIRST)]
    other = make_submission(world.other_run, sha256=FIRST)
    world.database.write(lambda session: add_submission(session, other))
    with world.database.read() as session:
        found = known_leaks.sent(session, "bikes", FIRST)
    assert found == [(sent[0], world.run.id), (sent[2], world.run.id)]
