"""Runs: one agent at one competition with one seed and one key."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.orm import Session

from app.domain.feedback import Feedback
from app.domain.states import CompetitionStatus, Role, RunState, SubmissionState
from app.errors import Conflict, NeedsData, NotFound, RunClosed
from app.services.auth import Caller, new_key, own_run
from app.services.runtime.context import Context
from app.services.runtime.run_lookup import existing_run
from app.storage.database.records import RunRecord
from app.storage.queries import (
    competitions,
    experiments,
    imported_grades,
    keys,
    results,
    runs,
    submissions,
)
from app.storage.queries.ids import new_id


@dataclass(frozen=True, slots=True)
class NewRun:
    """A researcher's description of a new run."""

    experiment: str
    competition: str
    seed: int
    feedback: Feedback
    limits: dict[str, Any]


def create(context: Context, new: NewRun) -> tuple[RunRecord, str]:
    """Create a run at the competition's current version. Returns it and its key.

    The key is not stored and cannot be shown again.

    Raises:
        NotFound: the experiment or the competition does not exist.
        NeedsData: the competition cannot be graded yet.
        Conflict: the experiment has a run with this seed at this competition.
    """
    run_id = new_id("run")
    key, key_record = new_key(
        Role.RUN, f"{new.experiment}/{new.competition}/{new.seed}", run_id=run_id
    )

    def record(session: Session) -> RunRecord:
        if experiments.get(session, new.experiment) is None:
            raise NotFound(f"There is no experiment {new.experiment!r}; create it first.")
        version = competitions.current_version(session, new.competition)
        if version is None:
            raise NotFound(f"There is no competition {new.competition!r}.")
        if version.status != CompetitionStatus.READY:
            raise NeedsData(
                f"{new.competition} cannot be graded yet: an admin has to import its data."
            )
        known = runs.find_run(session, new.experiment, new.competition, new.seed)
        if known is not None:
            raise Conflict(
                f"The experiment {new.experiment!r} has a run of seed {new.seed} at "
                f"{new.competition}: {known.id}. Choose another seed."
            )
        if imported_grades.has(session, new.experiment, new.competition, new.seed):
            raise Conflict(
                f"The experiment {new.experiment!r} has an imported result of seed {new.seed} at "
                f"{new.competition}. Choose another seed."
            )
        run = runs.add_run(
            session,
            RunRecord(
                id=run_id,
                experiment=new.experiment,
                version_id=version.id,
                competition=new.competition,
                seed=new.seed,
                feedback=new.feedback,
                limits=new.limits,
                state=RunState.OPEN,
                usage=None,
                failure=None,
                selected_id=None,
                created_at=datetime.now(UTC),
                closed_at=None,
            ),
        )
        keys.add_key(session, key_record)
        return run

    return context.database.write(record), key


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
    after: str | None,
    limit: int,
) -> tuple[list[RunRecord], str | None]:
    """A page of runs, oldest first, and the next cursor. A run's key sees only its own run."""
    if caller.is_run:
        run = find(context, caller, caller.run_id or "")
        asked = (experiment in (None, run.experiment), competition in (None, run.competition))
        return ([run] if all(asked) and not after else []), None
    with context.database.read() as session:
        found = runs.list_runs(
            session, experiment=experiment, competition=competition, after=after, limit=limit + 1
        )
    return found[:limit], found[limit - 1].id if len(found) > limit else None


def change(
    context: Context,
    run_id: str,
    *,
    close: bool,
    usage: dict[str, Any] | None,
    failure: str | None,
) -> RunRecord:
    """Close a run, or record its usage or failure. Closing it a second time changes nothing.

    Raises:
        NotFound: the run does not exist.
    """

    def record(session: Session) -> RunRecord:
        run = existing_run(session, run_id)
        changes: dict[str, Any] = {}
        if close and run.state != RunState.CLOSED:
            changes |= {"state": RunState.CLOSED, "closed_at": datetime.now(UTC)}
        if usage is not None:
            changes["usage"] = {**(run.usage or {}), **usage}
        if failure is not None:
            changes["failure"] = failure
        if changes:
            runs.update_run(session, run_id, **changes)
        return runs.get_run(session, run_id) or run

    return context.database.write(record)


def close_all(context: Context, experiment: str, failure: str | None) -> list[str]:
    """Close the experiment's open runs and return their ids.

    `failure` is recorded for the runs without submissions.

    Raises:
        NotFound: the experiment does not exist.
    """
    with context.database.read() as session:
        if experiments.get(session, experiment) is None:
            raise NotFound(f"There is no experiment {experiment!r}.")
        found = [
            (each.run, each.sent)
            for each in results.run_results(session, experiments=[experiment])
            if each.state == RunState.OPEN
        ]
    for run_id, sent in found:
        noted_failure = None if sent else failure
        change(context, run_id, close=True, usage=None, failure=noted_failure)
    return [run_id for run_id, _ in found]


def select(context: Context, caller: Caller, run_id: str, submission_id: str) -> RunRecord:
    """Choose the run's final submission.

    Raises:
        RunClosed: the run is closed.
        NotFound: the run has no such submission.
        Conflict: the submission was rejected, and the caller may see that.
    """
    run = find(context, caller, run_id)

    def record(session: Session) -> RunRecord:
        now = runs.lock_run(session, run_id) or run
        if now.state == RunState.CLOSED:
            raise RunClosed(f"Run {run_id} is closed: its final submission stands.")
        found = submissions.get_submission(session, submission_id)
        if found is None or found[0].run_id != run_id:
            raise NotFound(f"Run {run_id} has no submission {submission_id!r}.")
        shows_state = not caller.is_run or run.feedback.shows_state
        if shows_state and found[0].state == SubmissionState.REJECTED:
            raise Conflict("This submission was rejected; a valid one can be chosen.")
        runs.update_run(session, run_id, selected_id=submission_id)
        return runs.get_run(session, run_id) or run

    return context.database.write(record)
