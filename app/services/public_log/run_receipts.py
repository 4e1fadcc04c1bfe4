"""The receipt of a closed run: the grade of its final submission, or why it has none."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.domain.states import RunState, SubmissionState
from app.domain.wording import counted
from app.errors import Conflict, PodiumError
from app.receipts.statements import Facts, ReceiptKind, score_text, utc
from app.services.public_log.competition_facts import competition_facts
from app.services.public_log.issue import Subject, issue_present
from app.services.runtime.context import Context
from app.services.runtime.run_limits import existing_run
from app.storage.database.records import (
    DISCLOSURE_KINDS,
    HARNESS_KINDS,
    GradeRecord,
    RunRecord,
    SubmissionRecord,
)
from app.storage.queries import exposure, results, submissions
from app.storage.queries.regrades import outcomes
from app.storage.queries.regrades.counted_runs import RunResult
from app.storage.queries.regrades.outcomes import OutcomeRecord
from app.storage.queries.trust import receipts
from app.storage.queries.trust.receipts import ReceiptRecord

LATELY = timedelta(days=1)
MOST_AT_ONCE = 200
FILE = "submission.csv"
# Errors that a damaged number, time or hash of the log causes when an entry is added.
DAMAGE = (LookupError, ValueError, IntegrityError)
log = logging.getLogger("podium.receipts")


class NoReceipt(Conflict):
    """There is no receipt of this run yet, or there is none of its kind.

    A run has a receipt when it is closed and its submissions are settled. Results that were
    imported or measured by a harness have none: Podium did not grade them.
    """


def issue_for_run(context: Context, run_id: str) -> tuple[ReceiptRecord, bool]:
    """The present receipt of a closed run, and whether it is new.

    Raises:
        NotFound: the run does not exist.
        NoReceipt: the run is open, is being graded, or has no grades of Podium's.
    """
    with context.database.read() as session:
        experiment = existing_run(session, run_id).experiment
    return issue_present(
        context,
        Subject(ReceiptKind.GRADE, experiment, run_id),
        lambda session: run_facts(context, session, existing_run(session, run_id)),
    )


def issue_at_close(context: Context, run_id: str) -> None:
    """Issue the receipt of a run that was just closed, unless it has to wait for a grade.

    If the log or its receipts are damaged, no error is raised, because the run is closed already.
    """
    try:
        issue_for_run(context, run_id)
    except NoReceipt as reason:
        log.info("no receipt yet", extra={"run": run_id, "why": reason.detail})
    except DAMAGE:
        log.exception(
            "cannot issue the receipt of a run: is the public log damaged? `podium verify` says "
            "more. It is tried again for a day; later, `podium receipts issue` issues it",
            extra={"run": run_id},
        )


def issue_late(context: Context, *, looks_at_all: bool = False) -> int:
    """Issue the missing receipts of lately closed runs, and those of regraded runs.

    Returns the number of new receipts. A closed run has no receipt if its grade came after the
    close. The receipt of a regraded run supersedes the one before. With `looks_at_all`, grades that
    came days after the close (for example because no worker ran) are included, and regrades that
    were applied days ago (for example by a command while no server ran).
    """
    since = datetime.now(UTC) - LATELY
    with context.database.read() as session:
        waiting = receipts.closed_without(session, since, MOST_AT_ONCE)
        if looks_at_all:
            late = receipts.graded_late_without(session, MOST_AT_ONCE)
            waiting += [each for each in late if each not in waiting]
        applied_since = None if looks_at_all else since
        waiting += receipts.regraded_since(session, applied_since, MOST_AT_ONCE)
    count = 0
    for run_id in waiting:
        try:
            count += issue_for_run(context, run_id)[1]
        except PodiumError as error:  # the others do not wait for this one
            log.warning("no receipt", extra={"run": run_id, "why": error.detail})
        except Exception:  # its rows are damaged; without this it would always stop the others
            log.exception("no receipt", extra={"run": run_id})
    return count


def run_facts(context: Context, session: Session, run: RunRecord) -> tuple[Facts, str | None]:
    """The facts in the receipt of a run, and the id of its final submission.

    Raises:
        NoReceipt: as `issue_for_run`.
    """
    result = next(results.run_results(session, run=run.id))
    _refuse_unfinished(run, result)
    found = submissions.get_submission(session, result.final) if result.final else None
    submission, grade = found if found is not None else (None, None)
    regraded = outcomes.in_force_for(session, submission.id) if submission else None
    # A run without a valid file is regraded too. If it got no new receipt, the number of entries in
    # the public log would reveal which runs have a valid file.
    regrade = regraded[0] if regraded else None
    if submission is None:
        regrade = outcomes.in_force_for_run(session, run.id)
    version_id = regraded[1] if regraded else run.version_id
    about = competition_facts(context, session, context.catalogue.version(version_id))
    version = about["competition"]
    if submission is None:
        subject = (f"{version['slug']}@{version['version']}", version["digest"]["sha256"])
    else:
        subject = (submission.file_name or FILE, submission.sha256)
    body = {
        **about,
        "run": {
            "id": run.id,
            "experiment": run.experiment,
            "seed": run.seed,
            "policy": run.feedback.value,
            "closed": utc(run.closed_at or run.created_at),
            "failure": run.failure,
        },
        "outcome": outcome_of(result),
        "final": True,
        "submission": _submission(run, submission),
        **_grade(regraded[2] if regraded else grade),
        **({"regrade": regrade} if regrade else {}),
        "exposure": _exposure(session, run, result.sent),
    }
    return Facts(ReceiptKind.GRADE, (subject,), body), result.final


def outcome_of(result: RunResult) -> str:
    """The outcome of a run: graded, rejected, failed, missing, reported, open or waiting."""
    if result.final_state is SubmissionState.GRADED:
        return "graded"
    if result.waiting:
        return "waiting"
    if result.state is RunState.OPEN:
        return "open"
    if result.final_state is SubmissionState.FAILED or (result.final is None and result.failed):
        return "failed"
    if result.sent:
        return "rejected"
    return "reported" if result.reported else "missing"


def _refuse_unfinished(run: RunRecord, result: RunResult) -> None:
    if run.state is not RunState.CLOSED:
        raise NoReceipt(f"Run {run.id} is open: it has a receipt when it is closed.")
    if result.waiting:
        are, they_are = ("is", "it is") if result.waiting == 1 else ("are", "they are")
        raise NoReceipt(
            f"Run {run.id} has {counted(result.waiting, 'submission')} that {are} not graded yet: "
            f"its receipt follows when {they_are}."
        )
    if result.imported or outcome_of(result) == "reported":
        raise NoReceipt(
            f"Run {run.id} or its scores were imported or reported: Podium did not see how they "
            "were made, and signs nothing."
        )


def _submission(run: RunRecord, submission: SubmissionRecord | None) -> dict[str, Any] | None:
    if submission is None:
        return None
    return {
        "id": submission.id,
        "received": utc(submission.received_at),
        "bytes": submission.bytes,
        "chosen": "selected" if run.selected_id == submission.id else "last valid",
    }


def _grade(grade: GradeRecord | OutcomeRecord | None) -> dict[str, Any]:
    if grade is None or grade.score is None:
        nothing = ("score", "public_score", "standing", "grader", "graded")
        return dict.fromkeys(nothing)
    return {
        "score": score_text(grade.score),
        "public_score": score_text(grade.public_score),
        "standing": {
            "medal": grade.medal,
            "better": grade.better,
            "equal": grade.equal,
            "worse": grade.worse,
            "above_median": grade.above_median,
        },
        "grader": grade.grader,
        "graded": utc(grade.graded_at),
    }


def _exposure(session: Session, run: RunRecord, sent: int) -> dict[str, Any]:
    """Disclosures up to the run's close; later ones cannot have helped the agent."""
    counted = exposure.totals(session, run.id, until=run.closed_at)
    # Older receipts, without a count of failures, are equal to those of runs without failures. So
    # the facts of these runs have not changed, and no second receipt is issued.
    counts = {
        kind: count
        for kind, count in counted.items()
        if count or not kind.endswith(exposure.FAILURE)
    }
    return {
        "submissions": sent,
        **{f"{kind}s": counts[kind] for kind in DISCLOSURE_KINDS if kind in counts},
        "to_harness": {
            f"{plain}s": counts[kind]
            for plain, kind in zip(DISCLOSURE_KINDS, HARNESS_KINDS, strict=True)
            if kind in counts
        },
    }
