"""The only place where outcomes are disclosed: apply the run's policy, record it in the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from app.domain.feedback import Feedback, visible_flags
from app.domain.states import SubmissionState
from app.services.auth import Caller
from app.services.runtime.catalogue import CatalogueEntry
from app.services.runtime.context import Context
from app.services.runtime.pages import page_of
from app.services.runtime.shown_outcomes import shown_outcome
from app.services.submissions.find_submissions import FoundSubmission, find, read_outcomes
from app.services.submissions.record_disclosures import record_disclosures
from app.storage.database.records import HARNESS, GradeRecord, RunRecord, SubmissionRecord
from app.storage.queries import submissions
from app.storage.queries.regrades.counted_grades import counted_grades

RECEIVED = "received"  # the state of every submission under the policy `none`
FAULT_PROBLEM = {
    "type": "/problems/grading-fault",
    "title": "Grading broke down",
    "status": 500,
    "detail": "Podium could not grade this file. That is Podium's or the competition's fault, "
    "not the file's: it uses up no submission, and the operator of this Podium can see why. If the "
    "cause is what the metric did with the file, it counts among the failures that a run may have.",
}


@dataclass(frozen=True, slots=True)
class Disclosed:
    """A submission as one caller may see it. A number that the caller may not see is None.

    `regrade` is the regrade that graded it, for readers of results; None for the first grade.
    """

    submission: SubmissionRecord
    run: RunRecord
    competition_version: int
    state: str
    settled_at: datetime | None
    problem: dict[str, Any] | None
    warnings: list[dict[str, Any]]
    grade: dict[str, Any] | None
    regrade: str | None = None


def show(context: Context, caller: Caller, submission_id: str) -> Disclosed:
    """A submission, with the part of its grade that the caller's policy shows.

    Raises:
        NotFound: the submission does not exist, or it belongs to another run.
    """
    with context.database.read() as session:
        found = find(context, session, caller, submission_id)
    return show_found(context, caller, found)


def show_found(
    context: Context, caller: Caller, found: FoundSubmission, *, is_first: bool = False
) -> Disclosed:
    """A submission that was found, as `show_all` shows it."""
    of_run = [(found.submission, found.grade)]
    return show_all(context, caller, found.run, of_run, now=found.at, is_first=is_first)[0]


def show_new(
    context: Context, caller: Caller, run: RunRecord, submission: SubmissionRecord
) -> Disclosed:
    """A submission that was just stored. It has no grade yet, so no query is needed."""
    return show_all(context, caller, run, [(submission, None)])[0]


def show_all(
    context: Context,
    caller: Caller,
    run: RunRecord,
    found: Sequence[tuple[SubmissionRecord, GradeRecord | None]],
    *,
    now: datetime | None = None,
    is_first: bool = False,
) -> list[Disclosed]:
    """Submissions of one run as the caller may see them at the time `now` (None: at this moment).

    The key of a harness sees all grades, and no flags. If the caller has a run's key or a
    harness's, every disclosure, also of a failure, is committed to the ledger before this returns.
    Such callers always see the first grade of each submission; readers of results see that of a
    regrade in force. With `is_first` the ledger is not read before it is written, which saves time
    if nothing of these submissions was disclosed before.
    """
    policy = run.feedback if caller.is_run else Feedback.FULL
    entry = context.catalogue.of_version(run.version_id)
    reader = None if caller.reads_results else run.feedback if caller.is_run else Feedback.NONE
    flags = visible_flags(entry.competition.flags, reader)
    if caller.is_run:
        now, step = now or datetime.now(UTC), context.settings.outcome_step_seconds
        found = [shown_outcome(policy, *each, now=now, step=step) for each in found]
    regrades: dict[str, str] = {}
    if caller.reads_results and any(each.state.is_settled for each, _ in found):
        with context.database.read() as session:
            found, regrades = counted_grades(session, run.competition, found)
    disclosed = [
        disclosed_under(
            policy,
            run,
            entry,
            entry if grade is None else context.catalogue.of_version(grade.version_id),
            flags,
            submission,
            grade,
            regrades.get(submission.id),
        )
        for submission, grade in found
    ]
    if not caller.reads_results:
        disclosed_grades = [
            grade for d, (_, grade) in zip(disclosed, found, strict=True) if grade and d.grade
        ]
        failed = [d.submission.id for d in disclosed if d.state == SubmissionState.FAILED]
        prefix = HARNESS if caller.is_harness else ""
        record_disclosures(
            context, run, policy, disclosed_grades, failed, prefix, is_first=is_first
        )
    return disclosed


def state_shown(
    context: Context, caller: Caller, run: RunRecord, submission: SubmissionRecord, now: datetime
) -> str:
    """The submission's state as the caller may see it at the time `now`."""
    if not caller.is_run:
        return submission.state.value
    if not run.feedback.shows_state:
        return RECEIVED
    step = context.settings.outcome_step_seconds
    return shown_outcome(run.feedback, submission, None, now=now, step=step)[0].state.value


def disclosed_under(
    policy: Feedback,
    run: RunRecord,
    own: CatalogueEntry,
    graded_by: CatalogueEntry,
    flags: list[dict[str, str]],
    submission: SubmissionRecord,
    grade: GradeRecord | None,
    regrade: str | None,
) -> Disclosed:
    """The part of a submission and its grade that a policy shows.

    `own` is the version of the run, `graded_by` that of the grade; `regrade` made the grade.
    """
    number = own.version.number
    if not policy.shows_state:
        return Disclosed(submission, run, number, RECEIVED, None, None, [], None)
    problem = submission.problem
    if submission.state == SubmissionState.FAILED:
        problem = FAULT_PROBLEM
    shown = None
    if grade is not None and policy.shows_a_score:
        shown = _grade_document(grade, graded_by, policy)
        shown["flags"] = flags
    return Disclosed(
        submission, run, number, submission.state.value, submission.settled_at, problem,
        submission.warnings, shown, regrade,
    )  # fmt: skip


# How the score was compared with the board: private, though stored with the grader.
COMPARED = ("decimals", "borderline", "unrounded_medal")


def _grade_document(grade: GradeRecord, entry: CatalogueEntry, policy: Feedback) -> dict[str, Any]:
    names = ("medal", "better", "equal", "worse", "teams", "percentile", "above_median")
    place: dict[str, Any] = {name: getattr(grade, name) for name in names}
    # None in grades older than these fields: then the score was compared unrounded.
    place |= {name: grade.grader.get(name) for name in COMPARED}
    comparison = entry.competition.against_baseline(grade.score)
    place["improvement"] = comparison.improvement if comparison else None
    place["success"] = comparison.success if comparison else None
    # The fields are in the schema's order, because lists are written without the schema.
    return {
        "score": grade.score if policy.shows_everything else None,
        "search_score": grade.search_score if policy.shows_search_score else None,
        "public_score": grade.public_score if policy.shows_public_score else None,
        **(place if policy.shows_everything else dict.fromkeys(place)),
        "competition_version": entry.version.number,
        "grader": {name: value for name, value in grade.grader.items() if name not in COMPARED},
        "graded_at": grade.graded_at,
    }


def page(
    context: Context, caller: Caller, run: RunRecord, after: str | None, limit: int
) -> tuple[list[Disclosed], str | None]:
    """A page of the run's submissions, oldest first, as the caller may see them; the next cursor.

    The cursor is None after the last page.
    """
    now, more = datetime.now(UTC), limit + 1
    with context.database.read() as session:
        query = partial(submissions.list_submissions, session, run.id, after=after, limit=more)
        found = read_outcomes(context, session, caller, run, now, query)
    shown, cursor = page_of(found, limit, lambda one: one[0].id)
    return show_all(context, caller, run, shown, now=now), cursor


def latest(
    context: Context,
    caller: Caller,
    run: RunRecord,
    *,
    before: str | None = None,
    offset: int = 0,
    limit: int,
) -> tuple[list[Disclosed], bool]:
    """A page of the run's submissions, newest first; and whether more follow.

    It begins with the newest, or with the first before the id `before`, and skips `offset`.
    """
    now, newest = datetime.now(UTC), submissions.latest_submissions
    with context.database.read() as session:
        query = partial(newest, session, run.id, before=before, offset=offset, limit=limit + 1)
        found = read_outcomes(context, session, caller, run, now, query)
    return show_all(context, caller, run, found[:limit], now=now), len(found) > limit
