"""The receipts of runs and experiments, and the runs that need one."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import insert
from sqlalchemy.orm import Session

from app.domain.states import RegradeState, ReportedScoreKind, RunState, SubmissionState
from app.receipts.statements import ReceiptKind
from app.storage.database.records import RunRecord
from app.storage.database.tables.receipts import LogEntry, SigningKey
from app.storage.database.tables.regrades import RegradeOutcome
from app.storage.queries import submissions
from app.storage.queries.elsewhere import imported_runs, reported_scores
from app.storage.queries.elsewhere.imported_runs import ImportedRunRecord
from app.storage.queries.elsewhere.reported_scores import ReportedScoreRecord
from app.storage.queries.regrades import regrades
from app.storage.queries.regrades.regrades import RegradeRecord
from app.storage.queries.trust import receipts
from app.storage.queries.trust.receipts import ReceiptRecord
from tests.storage.make import NOON, World, add_run, add_submission, make_submission
from tests.storage.statements import sqlite_plan

HOUR = timedelta(hours=1)
GRADED = SubmissionState.GRADED


def issue(session: Session, number: int, **over: Any) -> None:
    """Store a receipt of this number, of the experiment `first` unless it says another."""
    entry = {"number": number, "kind": "receipt", "leaf": "", "record": None, "at": NOON}
    session.execute(insert(LogEntry.__table__), entry)
    fields: dict[str, Any] = {
        "id": f"rcp_{number}", "kind": ReceiptKind.GRADE, "experiment": "first", "run_id": None,
        "submission_id": None, "facts": "", "statement": "", "signature": "",
        "envelope_signature": "", "key_id": "sig_1", "number": number, "supersedes": None,
        "created_at": NOON + number * HOUR,
    }  # fmt: skip
    receipts.add(session, ReceiptRecord(**{**fields, **over}))


def add_signing_key(session: Session) -> None:
    key = {"id": "sig_1", "name": "", "public_key": "", "valid_after": NOON}
    session.execute(insert(SigningKey.__table__), key)


def closed(world: World, seed: int, *sent: tuple[SubmissionState, float], hour: float) -> RunRecord:
    """A run that was closed in this hour, with files that were settled in these hours."""
    run = add_run(
        world.database, world.version, "first", seed=seed, state=RunState.CLOSED,
        closed_at=NOON + hour * HOUR,
    )  # fmt: skip
    for state, at in sent:
        one = make_submission(run, state=state, settled_at=NOON + at * HOUR)
        world.database.write(lambda session, one=one: add_submission(session, one))
    return run


def sent_by(session: Session, run: RunRecord) -> list[str]:
    found = submissions.list_submissions(session, run.id, limit=9)
    return [one.id for one, _ in found]


def test_receipts_are_those_of_one_run_or_experiment_in_the_order_of_the_log(world: World) -> None:
    run, other = world.run.id, world.other_run.id

    def write(session: Session) -> None:
        add_signing_key(session)
        issue(session, 1, kind=ReceiptKind.FREEZE)
        issue(session, 2, run_id=run)
        issue(session, 3, experiment="second", run_id=other)
        issue(session, 4, run_id=run, supersedes="rcp_2")
        issue(session, 5, kind=ReceiptKind.EXPERIMENT)
        issue(session, 6, kind=ReceiptKind.EXPERIMENT)
        issue(session, 7, experiment="second", kind=ReceiptKind.EXPERIMENT)

    world.database.write(write)
    with world.database.read() as session:
        last = receipts.last_of_run(session, run)
        of_experiment = receipts.last_of_experiment(session, "first", ReceiptKind.EXPERIMENT)
        assert [one.number for one in (last, of_experiment) if one] == [4, 6]
        assert [one.number for one in receipts.of_run(session, run)] == [2, 4]

        def page(kind: ReceiptKind | None, after: int, limit: int | None) -> list[int]:
            found = receipts.of_experiment(session, "first", kind=kind, after=after, limit=limit)
            return [one.number for one in found]

        assert page(None, 1, 3) == [2, 4, 5]
        assert page(ReceiptKind.GRADE, 2, None) == [4]
        assert receipts.replaced_among(session, ["rcp_2", "rcp_4"]) == {"rcp_2"}
        assert receipts.frozen_experiments(session) == {"first"}
        assert receipts.latest_by_run(session, "first") == {run: "rcp_4"}


def test_closed_and_settled_runs_that_podium_graded_need_a_receipt(world: World) -> None:
    graded = closed(world, 10, (GRADED, 0), hour=2)
    late = closed(world, 11, (GRADED, 5), hour=3)
    nothing = closed(world, 12, hour=1)
    closed(world, 13, (GRADED, 0), (SubmissionState.QUEUED, 0), hour=2)
    closed(world, 14, (GRADED, 0), hour=0)
    imported = closed(world, 15, (GRADED, 5), hour=2)
    reported = [closed(world, 16, hour=2), closed(world, 17, (GRADED, 0), hour=4)]
    issued = closed(world, 18, (GRADED, 5), hour=2)

    def write(session: Session) -> None:
        add_signing_key(session)
        issue(session, 1, run_id=issued.id)
        origin = ImportedRunRecord(
            run_id=imported.id, file="f", place="1", sha256="", document={}, imported_at=NOON
        )
        imported_runs.add(session, [origin])
        scores = [
            ReportedScoreRecord(
                run_id=one.id, kind=ReportedScoreKind.REPORTED, score=0.5, final=True, evidence={},
                reported_at=NOON,
            )
            for one in reported
        ]  # fmt: skip
        reported_scores.add_all(session, scores)

    world.database.write(write)
    with world.database.read() as session:
        found = receipts.closed_without(session, NOON, 9)
        assert found == [reported[1].id, late.id, graded.id, nothing.id]  # the latest first
        assert receipts.closed_without(session, NOON, 2) == found[:2]
        assert receipts.graded_late_without(session, 9) == [late.id]


@pytest.mark.parametrize("database_kind", ["sqlite"])
def test_runs_that_were_closed_lately_are_found_by_the_time_of_their_close(world: World) -> None:
    """Every ten seconds all closed runs were read."""
    plan = sqlite_plan(world.database, lambda s: receipts.closed_without(s, NOON, 9))
    assert [step for step in plan if step.startswith("SEARCH run ")] == [
        "SEARCH run USING INDEX ix_run_closed_at (closed_at>?)"
    ]


@pytest.mark.parametrize("database_kind", ["sqlite"])
def test_the_digests_of_an_experiment_are_found_by_its_runs(world: World) -> None:
    """Those of all experiments were read."""
    plan = sqlite_plan(world.database, lambda s: receipts.graded_digests(s, "first"))
    assert [step.split(" ")[1] for step in plan] == ["run", "submission"]


def test_a_run_needs_a_new_receipt_after_a_regrade_of_one_of_its_files(world: World) -> None:
    runs = [closed(world, seed, (GRADED, 0), (GRADED, 0), hour=1) for seed in range(10, 14)]
    regraded, again, other, without = (run.id for run in runs)
    with world.database.read() as session:
        files = {run.id: min(sent_by(session, run)) for run in runs}

    def write(session: Session) -> None:
        add_signing_key(session)
        for number, run in ((1, regraded), (2, again), (3, other), (6, again)):
            issue(session, number, run_id=run)
        for name, competition in (("rgr_b", "bikes"), ("rgr_l", "leaves")):
            new = RegradeRecord(
                id=name, competition=competition, version_id=None, podium_version="1",
                environment="e", created_by=None, created_at=NOON, state=RegradeState.APPLIED,
                applied_at=NOON + 5 * HOUR,
            )  # fmt: skip
            regrades.add(session, new)
        rows = [
            {"regrade_id": "rgr_b", "submission_id": files[run], "state": GRADED, "attempts": 1,
             "version_id": world.version.id, "score": 0.5, "graded_at": NOON}
            for run in (regraded, again, without)
        ]  # fmt: skip
        session.execute(insert(RegradeOutcome.__table__), rows)

    world.database.write(write)

    def found(hour: int | None) -> list[str]:
        since = None if hour is None else NOON + hour * HOUR
        with world.database.read() as session:
            return receipts.regraded_since(session, since, 9)

    assert found(None) == found(4) == [regraded]
    assert found(5) == []
    later = {"superseded_at": NOON + 7 * HOUR}
    world.database.write(lambda session: regrades.change(session, "rgr_b", **later))
    assert found(None) == []
