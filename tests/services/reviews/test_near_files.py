"""Which of two alike files is the copy: the one that was graded later, on both databases."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from app.review.likeness import cells_of
from app.services.reviews import near_files
from app.services.reviews.near_files import NearFiles, Turn
from app.storage.queries.reviews import sketches
from app.storage.queries.reviews.equal_predictions import with_same_predictions
from app.storage.queries.reviews.sketches import GradedFile
from tests.storage.make import (
    NOON,
    World,
    add_grade,
    add_submission,
    make_grade,
    make_submission,
)
from tests.storage.sketches import graded, sketch
from tests.storage.statements import sent_statements


def waiting(world: World) -> list[GradedFile]:
    with world.database.read() as session:
        return sketches.not_reviewed(session, 100)


def test_of_two_equal_files_the_one_graded_later_is_the_copy(world: World) -> None:
    early = world.database.write(lambda s: add_submission(s, make_submission(world.run)))
    world.database.write(lambda s: add_grade(s, make_grade(early)))
    (late,) = graded(world, "another", sketch())  # sent after `early`, and graded before it
    world.database.write(lambda s: sketches.add_all(s, [(early.id, world.version.id, sketch())]))

    found = {}
    with world.database.read() as session:
        for one in waiting(world):
            same = with_same_predictions(session, one, 10)
            found[one.submission] = [each.submission for each in same]

    assert early.id < late
    assert found == {late: [], early.id: [late]}


@pytest.mark.parametrize("at_once", [1, 2, 100])
def test_near_files_are_found_however_many_are_read_at_once(
    world: World, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(near_files, "FILES_PER_QUERY", at_once)
    first = graded(world, "one", sketch(), sketch(0.5), sketch(0.9), sketch(0.5 + 1e-4))  # its own
    second = graded(world, "two", sketch(1e-4), sketch(7.0))
    near = NearFiles()

    found = {}
    with world.database.read() as session:
        turn = Turn(waiting(world), sketches.last_review(session))
        for one in turn.files:
            cells = cells_of(one.sketch)
            assert cells is not None
            nearest = near.nearest(session, one, cells, turn)
            found[one.submission] = nearest and nearest.file.submission

    assert found == {**dict.fromkeys([*first, second[1]]), second[0]: first[0]}


def test_a_file_that_is_committed_after_a_later_one_is_found(
    world: World,
) -> None:
    (late,) = graded(world, "late", sketch())
    set_version(world, late, world.other_run.version_id)  # as if it were not committed yet
    (early,) = graded(world, "early", sketch(0.5))
    near = NearFiles()
    assert nearest(world, near, early) is None

    set_version(world, late, world.version.id)
    (copy,) = graded(world, "copy", sketch(1e-4))

    assert nearest(world, near, copy) == late
    assert nearest(world, near, copy) == late
    # A file that is kept twice gives the same answer, and takes memory.
    (version,) = near._versions.values()  # noqa: SLF001
    assert sorted(one.submission for one in version.files) == sorted([late, early, copy])


def test_a_file_that_is_committed_late_is_compared_with_those_reviewed_before(
    world: World,
) -> None:
    (late,) = graded(world, "late", sketch())
    (early,) = graded(world, "early", sketch())

    def same(submission: str) -> list[str]:
        (one,) = (each for each in waiting(world) if each.submission == submission)
        with world.database.read() as session:
            found = with_same_predictions(session, one, 10)
        return [each.submission for each in found]

    assert same(late) == []
    world.database.write(lambda s: sketches.set_reviewed(s, [early], NOON))
    assert same(late) == [early]


def test_a_nearly_equal_file_that_is_committed_late_is_compared_with_those_reviewed_before(
    world: World,
) -> None:
    (late,) = graded(world, "late", sketch(1e-4))
    (early,) = graded(world, "early", sketch())
    near = NearFiles()

    assert nearest(world, near, late) is None  # `early`, with a larger number, finds this one
    assert nearest(world, near, early) == late
    world.database.write(lambda s: sketches.set_reviewed(s, [early], NOON))
    assert nearest(world, near, late) == early


def test_of_many_files_only_the_latest_are_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All were read, and SQLite sorted them for each query: of 160,000, 20 seconds."""
    monkeypatch.setattr(near_files, "FILES_PER_QUERY", 2)
    monkeypatch.setattr(near_files, "MOST_FILES", 3)
    graded(world, "old", *(sketch(share) for share in range(9)))
    first, *_ = graded(world, "one", sketch(20.0), sketch(30.0), sketch(40.0))  # graded last
    near = NearFiles()

    with sent_statements() as sent:
        assert nearest(world, near, first) is None

    assert sum("cells != " in each for each in sent) == 2
    (version,) = near._versions.values()  # noqa: SLF001
    assert len(version.files) == 3


@pytest.mark.parametrize("database_kind", ["sqlite"])
def test_late_files_are_found_by_an_index(world: World) -> None:
    """All files of the version were read in each turn: 100,000 took 0.17 seconds."""
    with world.database.read() as session:
        connection = session.connection()
        query = f"EXPLAIN QUERY PLAN {sketches.LATE_CELLS.compile(connection)}"
        plan = connection.exec_driver_sql(query, (1, 9, "2026-11-26", b"")).all()
    assert "(version_id=? AND reviewed_at>?)" in plan[0].detail


def set_version(world: World, submission: str, version_id: int) -> None:
    table = sketches.TABLE
    change = update(table).where(table.c.submission_id == submission)
    world.database.write(lambda s: s.execute(change.values(version_id=version_id)).close())


def nearest(world: World, near: NearFiles, submission: str) -> str | None:
    with world.database.read() as session:
        turn = Turn(waiting(world), sketches.last_review(session))
        (one,) = (each for each in turn.files if each.submission == submission)
        cells = cells_of(one.sketch)
        assert cells is not None
        found = near.nearest(session, one, cells, turn)
    return None if found is None else found.file.submission
