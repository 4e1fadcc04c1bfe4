"""Which regrades are in force, now and at a time, and what they have and decide."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import insert
from sqlalchemy.orm import Session

from app.domain.states import SETTLED, RegradeState, SubmissionState
from app.storage.database.tables.regrades import RegradeOutcome
from app.storage.queries import results
from app.storage.queries.regrades import members, outcomes, regrades
from app.storage.queries.regrades.in_force import Basis, in_force
from app.storage.queries.regrades.outcomes import OutcomeRecord
from app.storage.queries.regrades.regrades import RegradeRecord
from tests.storage.make import (
    NOON,
    World,
    add_grade,
    add_submission,
    add_version,
    make_grade,
    make_submission,
)

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


def test_a_regrade_is_found_by_its_competition_and_state(world: World) -> None:
    applied = {"state": RegradeState.APPLIED}
    add(world, "b1", "bikes", applied_at=NOON, superseded_at=NOON + HOUR, **applied)
    add(world, "b2", "bikes", applied_at=NOON + HOUR, **applied)
    add(world, "b3", "bikes")
    add(world, "l1", "leaves", applied_at=NOON, superseded_at=NOON + HOUR, **applied)

    def write(session: Session) -> list[bool]:
        return [regrades.change_running(session, one, reason="x") for one in ("b2", "b3")]

    assert world.database.write(write) == [False, True]
    with world.database.read() as session:
        now = [regrades.in_force_at(session, slug) for slug in ("bikes", "leaves", "apples")]
        assert [one and one.id for one in now] == ["b2", None, None]
        assert [(one.id, one.reason) for one in regrades.running(session)] == [("b3", "x")]
        kept = regrades.get(session, "b2")
        listed = regrades.of_competition(session, "bikes", after="b1", limit=1)
    assert kept is not None
    assert kept.reason is None
    assert [one.id for one in listed] == ["b2"]


def test_a_regrade_has_the_settled_submissions_of_its_competition(world: World) -> None:
    add(world, "b1", "bikes")
    settled = [world.submit(state=state).id for state in sorted(SETTLED)]
    world.submit()  # is queued
    other = make_submission(world.other_run, state=SubmissionState.GRADED)
    world.database.write(lambda session: add_submission(session, other))

    with world.database.read() as session:
        regrade = regrades.get(session, "b1")
        assert regrade is not None
        after = members.settled_after(session, regrade, settled[0])
        assert [one.submission_id for one in after] == settled[1:]
        assert members.count_missing(session, regrade) == len(settled)

    def fill(session: Session) -> list[str]:
        one = replace(regrade, submission_id=settled[1])
        first = [added.submission_id for added in members.fill(session, one)]
        assert members.count_missing(session, regrade) == len(settled) - 1
        return first + [added.submission_id for added in members.fill(session, regrade)]

    assert world.database.write(fill) == [settled[1], settled[0], *settled[2:]]


def test_a_regrade_decides_about_what_it_has_and_the_first_grade_of_its_version_about_others(
    world: World,
) -> None:
    graded = SubmissionState.GRADED
    first, second, third = (
        world.submit(state=graded, received_at=NOON, settled_at=NOON) for _ in range(3)
    )
    older = world.database.write(lambda session: add_version(session, "bikes", number=2)).id
    applied = {"state": RegradeState.APPLIED}
    add(world, "b1", "bikes", applied_at=NOON, superseded_at=NOON + HOUR, **applied)
    add(world, "b2", "bikes", applied_at=NOON + HOUR, **applied)

    def write(session: Session) -> None:
        for one, score in ((first, 0.1), (second, 0.2), (third, 0.3)):
            add_grade(session, make_grade(one, score=score))
        add_grade(session, make_grade(second, score=0.9, version_id=older))
        settled = {"graded_at": NOON, "attempts": 1}
        rows = [
            ("b1", first, graded, 0.5), ("b2", first, graded, 0.6),
            ("b1", third, graded, 0.7), ("b2", third, SubmissionState.REJECTED, None),
        ]  # fmt: skip
        session.execute(insert(RegradeOutcome.__table__), [
            {"regrade_id": regrade, "submission_id": one.id, "version_id": older, "state": state,
             "score": score, **settled}
            for regrade, one, state, score in rows
        ])  # fmt: skip

    world.database.write(write)

    def found(basis: Basis) -> tuple[list[float], tuple[Any, ...]]:
        with world.database.read() as session:
            sent = results.graded_submissions(session, "first", basis=basis)
            (run,) = results.run_results(session, competition="bikes", basis=basis)
            final = (run.final, run.score, run.regrade, run.version_id)
            return [one.score for one in sent], final

    own = world.version.id
    assert found(Basis()) == ([0.6, 0.2], (second.id, 0.2, None, own))
    assert found(Basis(as_of=NOON)) == ([0.5, 0.2, 0.7], (third.id, 0.7, "b1", older))


def test_the_outcome_that_counts_for_a_submission_is_that_of_the_regrade_in_force(
    world: World,
) -> None:
    first, second, third = (
        world.submit(state=SubmissionState.GRADED, received_at=NOON, settled_at=NOON)
        for _ in range(3)
    )
    applied = {"state": RegradeState.APPLIED}
    add(world, "b1", "bikes", applied_at=NOON, superseded_at=NOON + HOUR, **applied)
    add(world, "b2", "bikes", applied_at=NOON + HOUR, **applied)
    add(world, "b3", "bikes", state=RegradeState.READY)
    rows = [
        ("b1", first, SubmissionState.GRADED, 0.5), ("b2", first, SubmissionState.GRADED, 0.6),
        ("b3", first, SubmissionState.GRADED, 0.7), ("b1", second, SubmissionState.GRADED, 0.8),
        ("b2", second, SubmissionState.QUEUED, None), ("b1", third, SubmissionState.GRADED, 0.9),
    ]  # fmt: skip
    world.database.write(lambda session: session.execute(insert(RegradeOutcome.__table__), [
        {"regrade_id": regrade, "submission_id": one.id, "version_id": world.version.id,
         "state": state, "score": score, "graded_at": NOON, "attempts": 1}
        for regrade, one, state, score in rows
    ]))  # fmt: skip

    def score(found: tuple[str, int, OutcomeRecord] | None) -> tuple[str, float | None] | None:
        return None if found is None else (found[0], found[2].score)

    with world.database.read() as session:
        now = [score(outcomes.in_force_for(session, one.id)) for one in (first, second, third)]
        given = [score(outcomes.given_by(session, name, first.id)) for name in ("b1", "b3", "b4")]
        of_runs = [
            outcomes.in_force_for_run(session, run.id) for run in (world.run, world.other_run)
        ]
        progress = outcomes.progress(session, ["b1", "b2", "b4"])
    assert now == [("b2", 0.6), None, None]
    assert given == [("b1", 0.5), ("b3", 0.7), None]
    assert of_runs == ["b2", None]
    assert progress == {"b1": {"graded": 3}, "b2": {"graded": 1, "queued": 1}, "b4": {}}
