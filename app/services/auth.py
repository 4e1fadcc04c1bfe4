"""Authentication and authorization: find the caller of a key and check the caller's role."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy.orm import Session

from app.domain.states import Role
from app.errors import Forbidden, NotFound, RunArchived, Unauthorized
from app.services.runtime.context import Context
from app.services.runtime.run_limits import existing_run, no_run, start_clocks
from app.storage.database.records import KeyHolder, RunRecord
from app.storage.queries import keys

HOW_TO = "Send the header 'Authorization: Bearer <key>' with a key of this Podium."


@dataclass(frozen=True, slots=True)
class Caller:
    """The holder of a valid key."""

    role: Role
    key_id: str
    run_id: str | None = None
    run_waits: bool = False  # whether this is the first request of the run's key
    experiment: str | None = None  # the experiment of a harness's key

    @property
    def waiting_run(self) -> str | None:
        """The run whose clock this request starts; None if it has started."""
        return self.run_id if self.run_waits else None

    @property
    def is_run(self) -> bool:
        """Whether the key is a run's: the key of an agent's container, which sees only its run."""
        return self.role is Role.RUN

    @property
    def is_harness(self) -> bool:
        """Whether the key is a harness's, which grades the runs of one experiment."""
        return self.role is Role.HARNESS

    @property
    def reads_results(self) -> bool:
        """Whether the key is a researcher's or an admin's, who read what was written for them."""
        return self.role in (Role.RESEARCHER, Role.ADMIN)

    def reads_outcomes(self, run: RunRecord) -> bool:
        """Whether outcomes of the run's submissions are read from the database for this caller.

        They are not if the policy shows none, because the time of the query would reveal them.
        """
        return not self.is_run or run.feedback.shows_state


def identify(context: Context, key: str | None) -> Caller:
    """The caller that a key belongs to. The first request of a run's key starts the run's clock.

    Raises:
        Unauthorized, RunArchived: as `authenticate`.
    """
    with context.database.read() as session:
        caller = authenticate(session, key)
    start_clocks(context.database, [caller.waiting_run])
    return caller


def authenticate(session: Session, key: str | None) -> Caller:
    """The caller that a key belongs to.

    Every request with a key comes here. Logins of browsers (`authenticate_login`) and signed URLs
    (`require_live_key`) name a key instead; `_live` decides for all three whether it is valid.
    Only PODIUM_METRICS_KEY, which is not a key of the database, is compared elsewhere.

    A function that calls it for a request of a run has to start the clock of `waiting_run` when its
    session is over.

    Raises:
        Unauthorized: the key is missing, unknown, expired or revoked.
        RunArchived: the run of the key, its experiment or its competition is archived.
    """
    return _caller(key, keys.find_key(session, key_digest(key)) if key else None)


def authenticate_all(
    session: Session, sent: Collection[str | None]
) -> dict[str | None, Caller | Unauthorized | RunArchived]:
    """Like `authenticate`, for many keys by one query. Errors are returned, not raised."""
    digests = {key: key_digest(key) for key in sent if key}
    holders = keys.find_keys(session, digests.values())
    found: dict[str | None, Caller | Unauthorized | RunArchived] = {}
    for key in sent:
        try:
            found[key] = _caller(key, holders.get(digests[key]) if key else None)
        except (Unauthorized, RunArchived) as refusal:
            found[key] = refusal
    return found


def _caller(key: str | None, holder: KeyHolder | None) -> Caller:
    if not key:
        raise Unauthorized(f"No key was sent. {HOW_TO}")
    # The database finds the row by its digest. The comparison here takes constant time.
    if holder is None or not hmac.compare_digest(holder.key.digest, key_digest(key)):
        raise Unauthorized(f"This key is not known here. {HOW_TO}")
    return _live(holder)


def authenticate_login(session: Session, key_id: str) -> Caller:
    """The caller who logged in with the key of this id.

    Raises:
        Unauthorized, RunArchived: as `authenticate`.
    """
    holder = keys.get_key(session, key_id)
    if holder is None:
        raise Unauthorized("The key of this login is not known here any more. Log in again.")
    return _live(holder)


def _live(holder: KeyHolder) -> Caller:
    """The holder of a key, if the key is still valid. Only this function decides that."""
    record = holder.key
    if record.revoked_at is not None:
        raise Unauthorized("This key was revoked. Ask the operator of this Podium for a new one.")
    if record.expires_at is not None and record.expires_at <= datetime.now(UTC):
        raise Unauthorized("This key has expired. Ask the operator of this Podium for a new one.")
    if holder.archived is not None:
        raise RunArchived(
            f"The {holder.archived.value} of this key was archived, so the key opens nothing. Ask "
            "the operator of this Podium to restore it."
        )
    return Caller(record.role, record.id, record.run_id, holder.run_waits, record.experiment)


def require_live_key(context: Context, key_id: str) -> None:
    """Refuse a signed URL whose key is no longer valid.

    Raises:
        Forbidden: the key is unknown, expired or revoked, or its run is archived.
    """
    with context.database.read() as session:
        if not is_live(session, key_id):
            raise Forbidden("This signed URL's key is no longer valid.")


def is_live(session: Session, key_id: str) -> bool:
    """Whether a key is valid now: a request may have waited since the key was looked up."""
    holder = keys.get_key(session, key_id)
    try:
        return holder is not None and bool(_live(holder))
    except (Unauthorized, RunArchived):
        return False


def require_researcher(caller: Caller) -> None:
    """Let researchers and admins pass.

    Raises:
        Forbidden: the key is a run's or a harness's.
    """
    require_no_harness(caller)
    if not caller.reads_results:
        raise Forbidden("This needs a researcher's key; a run's key reaches only its own run.")


def require_no_harness(caller: Caller) -> None:
    """Let all keys pass but those of harnesses.

    Raises:
        Forbidden: the key is a harness's.
    """
    if caller.is_harness:
        raise Forbidden(
            "A harness's key makes runs of its experiment, sends their files and reads their "
            "grades, nothing else. This needs another key."
        )


def require_grader(caller: Caller) -> None:
    """Let harnesses, researchers and admins pass.

    Raises:
        Forbidden: the key is a run's.
    """
    if caller.is_run:
        raise Forbidden(
            "This needs the key of a harness or a researcher; a run's key sends submissions to "
            "POST /v1/runs/{id}/submissions."
        )


def require_own_experiment(caller: Caller, experiment: str) -> None:
    """Let researchers and admins pass, and a harness's key to its own experiment.

    Raises:
        NotFound: the key is of another experiment. To that key, the experiment does not exist.
    """
    if caller.is_harness and caller.experiment != experiment:
        raise NotFound(f"There is no experiment {experiment!r} for this key.")


def require_admin(caller: Caller) -> None:
    """Let admins pass.

    Raises:
        Forbidden: the key is a researcher's or a run's.
    """
    if caller.role is not Role.ADMIN:
        raise Forbidden(f"This needs an admin's key; this is a {caller.role.value}'s key.")


def may_reach(caller: Caller, run: RunRecord) -> bool:
    """Whether the caller's key gives access to the run: its own, or one of its experiment."""
    if caller.is_run:
        return run.id == caller.run_id
    return not caller.is_harness or run.experiment == caller.experiment


def may_ask_for(caller: Caller, run_id: str) -> bool:
    """Whether a run with this id could be the caller's, before it is looked up."""
    return not caller.is_run or caller.run_id == run_id


def own_run(session: Session, caller: Caller, run_id: str) -> RunRecord:
    """The run with this id: for researchers, its own key, and harnesses of its experiment.

    Raises:
        NotFound: the run does not exist, or it is not the caller's.
    """
    if not may_ask_for(caller, run_id):
        raise no_run(run_id)  # without a query
    run = existing_run(session, run_id)
    if not may_reach(caller, run):
        raise no_run(run_id)
    return run


def key_digest(key: str) -> str:
    """The digest of a key, which is stored. Keys have 192 random bits: a fast hash is enough."""
    return hashlib.sha256(key.encode()).hexdigest()
