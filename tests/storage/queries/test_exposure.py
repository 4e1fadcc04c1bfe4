from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import event

from app.storage.queries import exposure
from app.storage.queries.operation import faults
from tests.storage.make import NOON, add_grade, make_grade


@pytest.fixture
def grade(world):
    made = world.submit()
    return world.database.write(lambda s: add_grade(s, make_grade(made)))


def tell(world, kind, grade=None, run=None, at=NOON):
    run = run or world.run
    submission_id, grade_id = (grade.submission_id, grade.id) if grade else (None, None)
    return world.database.write(
        lambda s: exposure.record(s, run.id, kind, submission_id, grade_id, at)
    )


def listed(world):
    with world.database.read() as session:
        return exposure.list_disclosures(session, world.run.id)


def test_every_validation_is_a_line(world):
    tell(world, "validation")
    tell(world, "validation", at=NOON + timedelta(seconds=1))

    assert [(d.kind, d.at) for d in listed(world)] == [
        ("validation", NOON), ("validation", NOON + timedelta(seconds=1)),
    ]  # fmt: skip


def test_a_number_is_disclosed_once(world, grade):
    assert tell(world, "public_score", grade)
    assert not tell(world, "public_score", grade, at=NOON + timedelta(hours=1))

    (line,) = listed(world)
    assert (line.submission_id, line.grade_id, line.at) == (grade.submission_id, grade.id, NOON)


def test_public_and_private_scores_are_two_disclosures(world, grade):
    tell(world, "public_score", grade)
    tell(world, "private_score", grade)

    assert [d.kind for d in listed(world)] == ["public_score", "private_score"]


def test_another_runs_ledger_is_its_own(world):
    tell(world, "validation", run=world.other_run)

    assert listed(world) == []


def test_totals_name_every_kind(world, grade):
    for _ in range(3):
        tell(world, "validation")
    tell(world, "private_score", grade)
    tell(world, "validation", run=world.other_run)

    with world.database.read() as session:
        assert exposure.totals(session, world.run.id) == {
            "validation": 3, "search_score": 0, "public_score": 0, "private_score": 1, "failure": 0,
            "harness_validation": 0, "harness_search_score": 0, "harness_public_score": 0,
            "harness_private_score": 0, "harness_failure": 0,
        }  # fmt: skip


def test_numbers_disclosed_are_found_behind_any_number_of_validations(world, grade):
    def write(session):
        for _ in range(1005):
            exposure.record(session, world.run.id, "validation", None, None, at=NOON)
        for kind in ("private_score", "harness_public_score"):
            exposure.record(session, world.run.id, kind, grade.submission_id, grade.id, at=NOON)

    world.database.write(write)
    with world.database.read() as session:
        of_both = exposure.numbers_disclosed(session, world.run.id, [grade.submission_id, "sub_0"])
        of_none = exposure.numbers_disclosed(session, world.run.id, [])
        elsewhere = exposure.numbers_disclosed(session, world.other_run.id, [grade.submission_id])

    assert of_both == [
        (grade.submission_id, "private_score"), (grade.submission_id, "harness_public_score"),
    ]  # fmt: skip
    assert of_none == elsewhere == []


@pytest.mark.parametrize("database_kind", ["sqlite"])
def test_what_was_disclosed_is_found_by_an_index(world, grade):
    """The numbers of all runs were read for each answer to an agent: of a million, 0.1 seconds."""
    tell(world, "public_score", grade)
    sent = []
    with world.database.read() as session:
        connection = session.connection()
        event.listen(connection, "before_cursor_execute", lambda *given: sent.append(given[2:4]))
        kinds = {"public_score", "harness_public_score"}
        found = exposure.disclosed_among(session, kinds, {grade.id, grade.id + 1})
        ((statement, given),) = sent
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", given).all()

    assert found == {("public_score", grade.id)}
    assert ["(kind=? AND grade_id=?)" in row.detail for row in plan] == [True]


def test_a_failure_is_disclosed_once_to_the_agent_and_once_to_the_harness(world):
    failed = [world.submit().id, world.submit().id]

    def write(session):
        return [
            exposure.record(session, world.run.id, kind, one, None, NOON)
            for kind in ("failure", "failure", "harness_failure")
            for one in failed
        ]

    assert world.database.write(write) == [True, True, False, False, True, True]
    with world.database.read() as session:
        told = exposure.failures_disclosed(session, [*failed, "sub_0"], "failure")
        of_one = exposure.numbers_disclosed(session, world.run.id, failed[:1])
    assert told == set(failed)
    assert of_one == [(failed[0], "failure"), (failed[0], "harness_failure")]


def test_a_failure_without_its_submission_or_with_a_grade_is_refused(world, grade):
    with pytest.raises(ValueError, match="of a submission"):
        tell(world, "failure")
    with pytest.raises(ValueError, match="has none"):
        tell(world, "failure", grade)


def test_an_unknown_kind_is_refused(world):
    with pytest.raises(ValueError, match="rumour"):
        tell(world, "rumour")


def test_a_number_without_its_grade_is_refused(world):
    with pytest.raises(ValueError, match="has a grade"):
        tell(world, "public_score")


def test_the_faults_of_a_submission_are_listed_latest_first(world):
    made, other = world.submit(), world.submit()

    def add(session):
        faults.add_fault(session, made.id, 1, "timeout", "metric.py:7", NOON)
        faults.add_fault(session, other.id, 1, "crashed", "", NOON)
        faults.add_fault(session, made.id, 2, "crashed", "", NOON)

    world.database.write(add)

    with world.database.read() as session:
        found = faults.list_faults(session, submission_id=made.id, limit=9)
    assert [(f.attempt, f.kind, f.place, f.at) for f in found] == [
        (2, "crashed", "", NOON), (1, "timeout", "metric.py:7", NOON),
    ]  # fmt: skip
