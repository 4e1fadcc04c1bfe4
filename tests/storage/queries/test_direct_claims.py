"""Claims of a server that grades: by turns of the runs, and only so many of each."""

from __future__ import annotations

import re
from typing import Any

import pytest
from sqlalchemy import insert, text
from sqlalchemy.orm import Session

from app.domain.states import SubmissionState
from app.storage.database.records import RunRecord, VersionFileRecord
from app.storage.database.rows import values
from app.storage.queries import direct_claims, submissions, version_files
from app.storage.queries.direct_claims import ClaimLimits
from tests.storage.make import (
    NOON,
    World,
    add_run,
    add_submission,
    add_version,
    make_submission,
)


@pytest.fixture
def runs(world: World) -> list[RunRecord]:
    """Three runs; the submission of the world's other run is claimed by somebody."""
    claim(world, 9, claimant="somebody")
    return [world.run, *(add_run(world.database, world.version, name) for name in ("b", "c"))]


def queue(world: World, *runs: RunRecord) -> list[str]:
    """Store a queued submission of each of these runs, in this order; their ids."""
    made = [make_submission(run) for run in runs]
    for one in made:
        world.database.write(lambda session, one=one: add_submission(session, one))
    return [one.id for one in made]


def claim(
    world: World, limit: int, *, claimant: str = "me", has_file: bool = False, **more
) -> list[str]:
    kind = "with_file" if has_file else "without_file"
    limits = ClaimLimits("metric.py", **{kind: limit}, **more)
    claimed, _ = world.database.write(
        lambda session: direct_claims.claim(session, claimant, limits, NOON)
    )
    return [each.id for each in claimed]


def test_each_run_has_its_first_file_claimed_before_another_has_its_second(world, runs):
    first, second, third = runs
    ids = queue(world, first, first, first, second, third, second)
    assert claim(world, 4) == [ids[0], ids[3], ids[4], ids[1]]
    assert claim(world, 4) == [ids[2], ids[5]]


def test_only_so_many_of_a_run_are_claimed(world, runs):
    first, second, _ = runs
    ids = queue(world, first, first, first, first, second)
    assert claim(world, 9, most_of_run=2) == [ids[0], ids[4], ids[1]]
    held = {first.id: 2, second.id: 1}
    assert claim(world, 9, most_of_run=2, held=held) == []
    assert claim(world, 9, most_of_run=2, held={first.id: 1, second.id: 1}) == [ids[2]]


def test_what_is_held_already_counts_as_turns(world, runs):
    first, second, third = runs
    ids = queue(world, first, second, third)
    assert claim(world, 2, held={first.id: 5, second.id: 1}) == [ids[2], ids[1]]


def test_versions_with_a_file_and_without_are_claimed_apart(world, runs):
    own = world.database.write(lambda session: add_version(session, "own"))
    other = add_run(world.database, own, "d")
    file = VersionFileRecord(path="metric.py", sha256="0" * 64, bytes=1)
    world.database.write(lambda session: version_files.add_files(session, own.id, [file]))
    ids = queue(world, other, runs[0], other, runs[1])
    assert claim(world, 1) == [ids[1]]
    assert claim(world, 9, has_file=True) == [ids[0], ids[2]]
    assert claim(world, 9) == [ids[3]]


def test_both_kinds_are_claimed_at_once_each_to_its_limit(world, runs):
    own = world.database.write(lambda session: add_version(session, "own"))
    other = add_run(world.database, own, "d")
    file = VersionFileRecord(path="metric.py", sha256="0" * 64, bytes=1)
    world.database.write(lambda session: version_files.add_files(session, own.id, [file]))
    ids = queue(world, other, runs[0], other, runs[1], other)

    def claim_both(without_file: int, with_file: int) -> tuple[list[str], bool]:
        limits = ClaimLimits("metric.py", with_file, without_file, most_of_run=2)
        claimed, has_more = world.database.write(
            lambda session: direct_claims.claim(session, "me", limits, NOON)
        )
        return [each.id for each in claimed], has_more

    assert claim_both(1, 0) == ([ids[1]], True)
    assert claim_both(1, 9) == ([ids[3], ids[0], ids[2]], True)
    assert claim_both(0, 9) == ([ids[4]], False)
    assert claim_both(9, 9) == ([], False)


@pytest.mark.parametrize("sent", ["aaaaaaaaabc", "abcabcabcabc", "aabbccccccccc", "abbbbbcccccc"])
@pytest.mark.parametrize("held", ["a", "aab", "abbcc", "aaabbbccc"])
def test_those_held_change_nothing_but_the_turns(world, runs, sent, held):
    """Where some are held, few turns of each run are asked for first, and more if they are few."""
    of = dict(zip("abc", runs, strict=True))
    ids = queue(world, *[of[name] for name in sent])
    turns = [held.count(name) + sent[: at + 1].count(name) for at, name in enumerate(sent)]
    in_order = [one for turn, one in sorted(zip(turns, ids, strict=True)) if turn <= 7]
    counted = {of[name].id: held.count(name) for name in set(held)}
    for limit in (1, 3, 9):
        assert claim(world, limit, most_of_run=7, held=counted) == in_order[:limit]
        world.database.write(lambda session: submissions.requeue_claimed_by(
            session, "me", counts_attempt=False))  # fmt: skip


@pytest.mark.parametrize(("limit", "most_of_run"), [(9, 2), (1, 9), (0, 9)])
def test_it_is_said_that_others_are_queued(world, runs, limit, most_of_run):
    queue(world, *[runs[0]] * 3)
    limits = ClaimLimits("metric.py", without_file=limit, most_of_run=most_of_run)
    claimed, has_more = world.database.write(
        lambda session: direct_claims.claim(session, "me", limits, NOON)
    )
    assert (len(claimed), has_more) == (min(limit, most_of_run), True)


@pytest.mark.parametrize("database_kind", ["sqlite"])
def test_a_claim_reads_the_first_files_of_each_run_and_not_the_whole_queue(world: World) -> None:
    """With 41,000 queued submissions each claim took 0.09 seconds."""
    details = plan_of_claim(world)
    looked_up = [one for one in details if "ix_submission_queued" in one]
    assert len(looked_up) == 5  # two for the runs, two for the bounds, one for the submissions
    assert "(state=? AND run_id=? AND id<?)" in looked_up[-1]
    assert not [one for one in details if "submission" in one and one not in looked_up]


def fill(world: World, runs: list[RunRecord], count: int, **over: Any) -> None:
    """Store as many submissions, of each run in turn, and what the database knows of them."""
    rows = [values(make_submission(runs[n % len(runs)], **over)) for n in range(count)]
    world.database.write(lambda session: session.execute(insert(direct_claims.TABLE), rows))
    world.database.write(lambda session: session.execute(text("ANALYZE")))


def plan_of_claim(world: World) -> list[str]:
    limits = {"turns": 16, "path": "metric.py", "with_file": 9, "without_file": 9}

    def explain(session: Session) -> list[str]:
        connection = session.connection()
        query = direct_claims.BY_TURNS[connection.dialect.name].compile(connection)
        given: Any = query.construct_params(limits)
        if connection.dialect.name == "postgresql":
            return [row[0] for row in connection.exec_driver_sql(f"EXPLAIN {query}", given)]
        given = tuple(given[name] for name in query.positiontup)
        found = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query}", given)
        return [row.detail for row in found]

    return world.database.write(explain)  # the connection of claims, which knows of ANALYZE


def test_old_statistics_make_no_claim_read_all_submissions(
    world: World, database_kind: str
) -> None:
    """PostgreSQL read the index whole for each run, and SQLite the table before all runs."""
    runs = [add_run(world.database, world.version, f"run {n}") for n in range(100)]
    fill(world, runs, 3000, state=SubmissionState.GRADED, settled_at=NOON)
    fill(world, runs[:1], 2000)
    of_one_run = plan_of_claim(world)
    claim(world, 5000)
    fill(world, runs, 1000)

    for plan in (of_one_run, plan_of_claim(world)):
        if database_kind == "sqlite":
            assert not [line for line in plan if "BLOOM FILTER" in line]
            continue
        reads = re.findall(r"Seq Scan on submission|\w+_submission_?\w*", "\n".join(plan))
        assert set(reads) == {"ix_submission_queued"}
        conditions = [line for line in plan if "Index Cond: " in line]
        assert all("state" in line for line in conditions)
        assert [line for line in conditions if "run_id" in line]


def test_a_named_submission_is_claimed_only_if_it_is_queued(world, runs):
    (one, other) = queue(world, runs[0], runs[0])

    def claim_named(*ids: str) -> list[str]:
        claimed = world.database.write(
            lambda session: direct_claims.claim_named(session, "me", ids, NOON)
        )
        return [each.id for each in claimed]

    assert claim_named(other) == [other]
    assert claim_named(other, "nothing") == []
    with world.database.read() as session:
        found, _ = submissions.get_submission(session, one)
    assert found.state is SubmissionState.QUEUED
