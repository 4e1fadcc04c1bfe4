"""Compare runs with their receipts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sqlalchemy.orm import Session

from app.domain.states import RunState, SubmissionState
from app.receipts.statements import utc
from app.services.public_log.run_receipts import outcome_of
from app.storage.database.records import DISCLOSURE_KINDS, HARNESS
from app.storage.queries import exposure, results
from app.storage.queries.regrades.counted_runs import RunResult
from app.storage.queries.regrades.regrades import in_force_at
from app.storage.queries.trust import receipts
from app.storage.queries.trust.receipts import ReceiptRecord

GRADED = SubmissionState.GRADED.value


def final_problems(session: Session, receipt: ReceiptRecord) -> Iterator[str]:
    """The differences between a run and its receipt, if this is the run's last receipt."""
    if receipt.run_id is None:
        return
    last = receipts.last_of_run(session, receipt.run_id)
    if last is None or last.id != receipt.id:
        return
    found = next(results.run_results(session, run=receipt.run_id), None)
    if found is None:
        yield f"its run {receipt.run_id} is missing"
        return
    predicate = json.loads(receipt.statement)["predicate"]
    for problem in (
        *_changed_fields(found, predicate["run"]),
        *_removed_disclosures(session, found, predicate.get("exposure", {})),
        *_changed_end(session, found, receipt),
    ):
        yield f"its run {receipt.run_id} {problem}"


def _changed_fields(run: RunResult, signed: dict[str, Any]) -> Iterator[str]:
    closed_at = run.closed_at if run.state is RunState.CLOSED else None
    own: dict[str, Any] = {
        "experiment": run.experiment,
        "seed": run.seed,
        "policy": run.feedback.value,
        "closed": None if closed_at is None else utc(closed_at),
    }
    if outcome_of(run) != "reported":  # since scores were reported, no change is signed any more
        own["failure"] = run.failure
    if changed := [name for name, value in own.items() if signed[name] != value]:
        yield f"has another {', '.join(changed)} than was signed: its row was changed"


def _removed_disclosures(session: Session, run: RunResult, signed: dict[str, Any]) -> Iterator[str]:
    """The kinds with fewer ledger entries until the close than the receipt says."""
    present = exposure.totals(session, run.run, until=run.closed_at)
    stated = {kind: signed.get(f"{kind}s", 0) for kind in DISCLOSURE_KINDS}
    to_harness = signed.get("to_harness", {})
    stated |= {f"{HARNESS}{kind}": to_harness.get(f"{kind}s", 0) for kind in DISCLOSURE_KINDS}
    if removed := [f"{kind}s" for kind, count in stated.items() if present[kind] < count]:
        yield (
            f"has fewer {', '.join(removed)} in its exposure ledger than was signed: rows were "
            "removed"
        )


def _changed_end(session: Session, run: RunResult, receipt: ReceiptRecord) -> Iterator[str]:
    """Whether the run's final submission and grade are those that were signed."""
    regrade = in_force_at(session, run.competition)
    if regrade is not None and (regrade.applied_at or receipt.created_at) >= receipt.created_at:
        return  # the receipt of the regraded run comes within seconds
    predicate = json.loads(receipt.statement)["predicate"]
    stated = predicate["submission"]["id"] if predicate["outcome"] == GRADED else None
    graded = run.final if run.final_state is SubmissionState.GRADED else None
    if stated != graded:
        yield (
            f"ends with {_submission(graded)}, and {_submission(stated)} was signed: rows of "
            "submissions, or the choice of the run, were changed"
        )
    elif graded is not None and run.regrade != (signed := predicate.get("regrade")):
        yield (
            f"counts with {_grade(run.regrade)}, and {_grade(signed)} was signed: rows of regrades "
            "were changed"
        )


def _grade(regrade: str | None) -> str:
    return "the first grade" if regrade is None else f"the grade of the regrade {regrade}"


def _submission(graded: str | None) -> str:
    return "no graded submission" if graded is None else f"the graded submission {graded}"
