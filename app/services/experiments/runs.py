"""Runs: find, list, start, change and close them. `create_run` makes them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.orm import Session

from app.domain.states import RunState, SubmissionState
from app.errors import Conflict, NotFound, RunClosed
from app.services.auth import Caller, own_run
from app.services.experiments import experiments
from app.services.public_log.change_failure import change_signed_failure
from app.services.public_log.run_receipts import issue_at_close
from app.services.runtime.context import Context
from app.services.runtime.pages import page_of
from app.services.runtime.run_limits import existing_run, refuse_closed, start_clocks
from app.services.runtime.shown_outcomes import shown_outcome
from app.storage.database.records import RunRecord
from app.storage.queries import exposure, runs, submission_counts, submissions
from app.storage.queries.regrades.counted_grades import count_states
from app.storage.queries.trust import receipts

PAGE = 1000


def find(context: Context, caller: Caller, run_id: str) -> RunRecord:
    """The run with this id.

    Raises:
        NotFound: the run does not exist, or the key is another run's.
    """
    with context.database.read() as session:
        return own_run(session, caller, run_id)


def page(
    context: Context,
    caller: Caller,
    *,
    experiment: str | None,
    competition: str | None,
    state: RunState | None = None,
    archived: bool = False,
    after: str | None,
    limit: int,
) -> tuple[list[RunRecord], str | None]:
    """A page of runs, oldest first, and the next cursor. A run's key sees only its own run.

    Archived runs appear only with `archived`. Runs of archived experiments or competitions also
    appear if the filter names those.
    """
    if caller.is_run:
        run = find(context, caller, caller.run_id or "")
        asked = (
            experiment in (None, run.experiment),
            competition in (None, run.competition),
            state in (None, run.state),
        )
        return ([run] if all(asked) and not after else []), None
    with context.database.read() as session:
        found = runs.list_runs(
            session,
            experiment=experiment,
            competition=competition,
            state=state,
            archived=archived,
            after=after,
            limit=limit + 1,
        )
    return page_of(found, limit, lambda one: one.id)


def start(context: Context, caller: Caller, run_id: str) -> RunRecord:
    """Start the clock of a run. A run that has started is returned unchanged.

    Raises:
        NotFound: the run does not exist, or the key is another run's.
        RunClosed: the run was closed before it started.
    """
    run = find(context, caller, run_id)
    if run.started_at is None:
        start_clocks(context.database, [run_id])
        run = find(context, caller, run_id)
    if run.started_at is None:
        raise RunClosed(f"Run {run_id} was closed before it started; its clock cannot start.")
    return run


def change(
    context: Context,
    run_id: str,
    *,
    close: bool,
    usage: dict[str, Any] | None,
    failure: str | None,
    if_nothing_sent: bool = False,
) -> RunRecord:
    """Close a run, or record its usage or failure. Closing it a second time changes nothing.

    With `if_nothing_sent` the failure is recorded only if the run is open and has no submissions. A
    closed run gets its receipt here, unless it has to wait for a grade.

    Raises:
        NotFound: the run does not exist.
    """

    def record(session: Session) -> tuple[RunRecord, bool]:
        # Locked, so that of two changes the second finds the run closed, and adds to its usage.
        run = runs.lock_run(session, run_id) or existing_run(session, run_id)
        changes: dict[str, Any] = {}
        notes_failure = failure is not None and not (
            if_nothing_sent and _is_closed_or_sent(session, run)
        )
        is_signed = notes_failure and receipts.last_of_run(session, run_id) is not None
        if close and run.state != RunState.CLOSED:
            changes |= {"state": RunState.CLOSED, "closed_at": _time_of_close(session, run)}
        if usage is not None:
            changes["usage"] = {**(run.usage or {}), **usage}
        if notes_failure and not is_signed:
            changes["failure"] = failure
        if changes:
            runs.update_run(session, run_id, **changes)
        return runs.get_run(session, run_id) or run, is_signed

    changed, is_signed = context.database.write(record)
    if failure is not None and is_signed:
        change_signed_failure(context, changed, failure)
        return replace(changed, failure=failure)
    if changed.state == RunState.CLOSED and (close or failure is not None):
        issue_at_close(context, run_id)
    return changed


def _is_closed_or_sent(session: Session, run: RunRecord) -> bool:
    """Whether a run was closed or sent something."""
    return run.state is RunState.CLOSED or bool(count_states(session, [run.id]))


def _time_of_close(session: Session, run: RunRecord) -> datetime:
    """The time now, or that of the run's last activity if the clock was set back since.

    A receipt counts the disclosures up to the close, so none may have a later time.
    """
    last = (exposure.last_time(session, run.id), submission_counts.last_received(session, run.id))
    times = (datetime.now(UTC), run.created_at, run.started_at, *last)
    return max(one for one in times if one is not None)


def close_all(context: Context, experiment: str, failure: str | None) -> list[str]:
    """Close the experiment's open runs and return their ids.

    `failure` is recorded for the runs without submissions.

    Raises:
        NotFound: the experiment does not exist.
    """
    with context.database.read() as session:
        experiments.existing(session, experiment)
        found = runs.list_runs(
            session, experiment=experiment, state=RunState.OPEN, archived=True, limit=None
        )
    for run in found:
        change(context, run.id, close=True, usage=None, failure=failure, if_nothing_sent=True)
    return [run.id for run in found]


def select(context: Context, caller: Caller, run_id: str, submission_id: str) -> RunRecord:
    """Choose the run's final submission.

    Raises:
        RunClosed: the run is closed, or its hours are over and a run's key asks.
        NotFound: the run has no such submission.
        Conflict: the submission was rejected, and the caller may see that.
    """
    run = find(context, caller, run_id)

    def record(session: Session) -> RunRecord:
        now = runs.lock_run(session, run_id) or run
        if now.state == RunState.CLOSED:
            raise RunClosed(f"Run {run_id} is closed: its final submission cannot change.")
        if caller.is_run:  # whoever chose later would have more time than others
            refuse_closed(now, datetime.now(UTC))
        found = submissions.get_submission(session, submission_id, outcomes=False)
        if found is None or found[0].run_id != run_id:
            raise NotFound(f"Run {run_id} has no submission {submission_id!r}.")
        state = found[0].state
        if caller.is_run:
            step, at = context.settings.outcome_step_seconds, datetime.now(UTC)
            state = shown_outcome(run.feedback, found[0], None, now=at, step=step)[0].state
        shows_state = not caller.is_run or run.feedback.shows_state
        if shows_state and state == SubmissionState.REJECTED:
            raise Conflict("This submission was rejected; a valid one can be chosen.")
        runs.update_run(session, run_id, selected_id=submission_id)
        return runs.get_run(session, run_id) or run

    return context.database.write(record)


def listed_runs(
    context: Context,
    experiment: str | None,
    competition: str | None,
    state: RunState | None,
    *,
    archived: bool = False,
) -> list[dict[str, Any]]:
    """All runs with submission counts: of an experiment, at a competition, or in a state."""
    found: list[dict[str, Any]] = []
    after = None
    while True:
        with context.database.read() as session:
            found_runs = runs.list_runs(
                session,
                experiment=experiment,
                competition=competition,
                state=state,
                archived=archived,
                after=after,
                limit=PAGE,
            )
            counts = count_states(session, [run.id for run in found_runs])
        found += [
            {
                "id": run.id,
                "experiment": run.experiment,
                "competition": run.competition,
                "seed": run.seed,
                "feedback": run.feedback.value,
                "limits": run.limits,
                "state": run.state.value,
                "failure": run.failure,
                "submissions": counts.get(run.id, {}),
                "created_at": run.created_at,
                "started_at": run.started_at,
                "closed_at": run.closed_at,
            }
            for run in found_runs
        ]
        if len(found_runs) < PAGE:
            return found
        after = found_runs[-1].id
