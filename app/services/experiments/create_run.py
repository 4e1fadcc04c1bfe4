"""Make a run: one agent at one competition with one seed and one key."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.orm import Session

from app.domain.feedback import Feedback
from app.domain.states import ArchivalKind, CompetitionStatus, Role, RunState
from app.errors import Conflict, Forbidden, Invalid, NeedsData, NotFound
from app.services.auth import Caller, require_own_experiment
from app.services.new_keys import new_key
from app.services.runtime.archival import refuse_archived
from app.services.runtime.context import Context
from app.storage.database.records import RunRecord
from app.storage.queries import competitions, experiments, keys, runs
from app.storage.queries.elsewhere import imported_grades
from app.storage.queries.ids import new_id


@dataclass(frozen=True, slots=True)
class NewRun:
    """A researcher's description of a new run."""

    experiment: str
    competition: str
    seed: int
    feedback: Feedback
    limits: dict[str, Any]


def create(context: Context, new: NewRun, *, tells_reason: bool = True) -> tuple[RunRecord, str]:
    """Create a run at the competition's current version. Returns it and its key.

    The key is not stored and cannot be shown again. Without `tells_reason` a refusal does not say
    why something was archived.

    Raises:
        NotFound: the experiment or the competition does not exist.
        NeedsData: the competition cannot be graded yet.
        Conflict: the experiment has a run with this seed at this competition, or the experiment or
            the competition is archived.
    """
    run_id = new_id("run")
    key, key_record = new_key(
        Role.RUN, f"{new.experiment}/{new.competition}/{new.seed}", run_id=run_id
    )

    def record(session: Session) -> RunRecord:
        experiments.lock(session, new.experiment, shared=True)  # see freeze, archive, imports
        competitions.lock(session, new.competition, shared=True)
        if experiments.get(session, new.experiment) is None:
            raise NotFound(
                f"There is no experiment {new.experiment!r}; create it first (podium experiments "
                "create, POST /v1/experiments)."
            )
        version = competitions.current_version(session, new.competition)
        if version is None:
            raise NotFound(f"There is no competition {new.competition!r}.")
        if version.status != CompetitionStatus.READY:
            raise NeedsData(
                f"{new.competition} cannot be graded yet: an admin has to import its data."
            )
        _require_unarchived(session, new, tells_reason=tells_reason)
        known = runs.find_run(session, new.experiment, new.competition, new.seed)
        if known is not None:
            raise Conflict(
                f"The experiment {new.experiment!r} has a run of seed {new.seed} at "
                f"{new.competition}: {known.id}. Choose another seed.",
                run=known.id,
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

    return context.database.write_new(record), key


def experiment_of(caller: Caller, named: str | None, where: str = "body.experiment") -> str:
    """The experiment that a request names (`where`), or else that of a harness's key.

    Raises:
        Invalid: there is neither.
    """
    found = named or caller.experiment
    if found is None:
        message = "name the experiment; only a harness's key has its own"
        raise Invalid(f"{where}: {message}.", errors=[{"where": where, "message": message}])
    return found


def create_as(context: Context, caller: Caller, new: NewRun) -> tuple[RunRecord, str]:
    """Like `create`, for the holder of a key.

    Raises:
        NotFound: the caller is the harness of another experiment. Otherwise as `create`.
        Forbidden: a harness asks for a run of the policy `full`, whose key reads the leaderboard.
    """
    require_own_experiment(caller, new.experiment)
    if caller.is_harness and new.feedback.shows_everything:
        raise Forbidden(
            "A harness's key makes runs of every policy but full. The key of a run under full "
            "reads the human leaderboard, so a researcher has to make that run."
        )
    return create(context, new, tells_reason=caller.reads_results)


def find_or_create(context: Context, caller: Caller, new: NewRun) -> RunRecord:
    """The run of this experiment, competition and seed; if there is none, a new one.

    An existing run keeps its policy and limits. A request that is repeated, or sent twice at the
    same time, gets the same run.

    Raises:
        Conflict: the run is archived. Otherwise as `create_as`.
    """
    require_own_experiment(caller, new.experiment)
    found = _existing(context, caller, new)
    if found is None:
        try:
            return create_as(context, caller, new)[0]
        except Conflict:
            found = _existing(context, caller, new)  # another request made it in the meantime
            if found is None:
                raise
    return found


def _existing(context: Context, caller: Caller, new: NewRun) -> RunRecord | None:
    with context.database.read() as session:
        found = runs.find_run(session, new.experiment, new.competition, new.seed)
        if found is not None:
            tells = caller.reads_results
            refuse_archived(session, ArchivalKind.RUN, found.id, tells_reason=tells)
            _require_unarchived(session, new, tells_reason=tells)
    return found


def _require_unarchived(session: Session, new: NewRun, *, tells_reason: bool) -> None:
    for kind, name in (
        (ArchivalKind.EXPERIMENT, new.experiment),
        (ArchivalKind.COMPETITION, new.competition),
    ):
        refuse_archived(session, kind, name, tells_reason=tells_reason)
