from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from app.storage.queries import exposure, runs
from app.storage.queries.operation import faults
from tests.storage.make import NOON, add_grade, make_grade
from tests.storage.statements import sqlite_plan


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
    kinds, grades = {"public_score", "harness_public_score"}, {grade.id, grade.id + 1}

    def read(session):
        return exposure.disclosed_among(session, kinds, grades)

    with world.database.read() as session:
        found = read(session)
    plan = sqlite_plan(world.database, read)

    assert found == {("public_score", grade.id)}
    assert ["(kind=? AND grade_id=?)" in step for step in plan] == [True]


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
        one = exposure.failures_disclosed(session, failed[:1], "failure")
    assert (told, one) == (set(failed), {failed[0]})
    assert of_one == [(failed[0], "failure"), (failed[0], "harness_failure")]


@pytest.mark.parametrize("database_kind", ["sqlite"])
def test_the_failures_of_some_files_are_found_by_the_index_of_failures(world):
    """Those of all runs were read for each answer that counts failures."""
    plan = sqlite_plan(
        world.database, lambda s: exposure.failures_disclosed(s, ["sub_1", "sub_2"], "failure")
    )
    assert ["ix_disclosure_failure (submission_id=?)" in step for step in plan] == [True]


def test_a_failure_that_the_harness_alone_saw_is_new_to_the_agent(world):
    failed = world.submit().id
    record = ("harness_failure", failed, None, NOON)
    world.database.write(lambda s: exposure.record(s, world.run.id, *record))
    with world.database.read() as session:
        assert exposure.failures_disclosed(session, [failed], "failure") == set()


def test_parts_of_a_ledger_go_by_kinds_ids_and_times(world, grade):
    hours = [NOON + timedelta(hours=hour) for hour in range(6)]
    kinds = ("validation", "public_score", "validation", "private_score", "harness_validation")
    for kind, at in zip(kinds, hours, strict=False):
        tell(world, kind, grade if kind.endswith("score") else None, at=at)
    tell(world, "validation", run=world.other_run, at=hours[5])
    ids = [one.id for one in listed(world)]

    with world.database.read() as session:

        def part(**given):
            return [one.id for one in exposure.list_disclosures(session, world.run.id, **given)]

        assert part(after=ids[0], until=ids[3]) == ids[1:4]
        assert part(offset=1, limit=2) == ids[1:3]
        assert part(kinds=("validation",)) == [ids[0], ids[2]]
        of_run = (session, world.run.id, "validation")
        assert exposure.count_validations(*of_run, after=ids[0]) == 1
        assert exposure.count_validations(*of_run, after=0, until=ids[1]) == 1
        until = exposure.totals(session, world.run.id, until=hours[1])
        assert {kind: count for kind, count in until.items() if count} == dict.fromkeys(
            kinds[:2], 1
        )
        assert exposure.last_id(session, world.run.id) == ids[-1]
        assert exposure.last_time(session, world.run.id) == hours[4]
        assert (exposure.last_id(session, "run_0"), exposure.last_time(session, "run_0")) == (
            0,
            None,
        )
        assert exposure.disclosures_until(session, hours[1]) == ids[0]
        shown = {("public_score", grade.id), ("private_score", grade.id)}
        scores = ["public_score", "private_score", "harness_public_score"]
        assert exposure.disclosed_among(session, scores, [grade.id]) == shown
        assert exposure.disclosed_among(session, scores[1:], [grade.id]) == shown - {
            ("public_score", grade.id)
        }
        assert exposure.disclosed_among(session, scores, [grade.id + 1]) == set()


def test_what_is_told_of_a_closed_run_is_told_after_its_close(world):
    close = datetime.now(UTC) + timedelta(hours=1)
    world.database.write(lambda s: runs.update_run(s, world.run.id, closed_at=close))

    def moments(session):
        return [exposure.moment(session, run.id) for run in (world.run, world.other_run)]

    told, other = world.database.write(moments)
    assert other < close < told


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
