"""Whether this process may grade: all that grade in one database have the same environment."""

from __future__ import annotations

from datetime import UTC, datetime

from app.errors import Conflict
from app.graders.environment import environment
from app.grading_version import grading_version
from app.storage.database.database import Database
from app.storage.queries import environments
from app.storage.queries.environments import Environment


class OtherEnvironment(Conflict):
    """This worker's grades could differ from those that are made here."""


def this_environment() -> Environment:
    """What a grade made by this process would name."""
    return Environment(grading_version(), environment())


def agree(database: Database, *, adopt: bool = False) -> None:
    """Make sure that this environment is the one that grades here: the first to come decides.

    `adopt` makes it this one from now on; workers of another then refuse to take submissions.

    Raises:
        OtherEnvironment: another one grades here.
    """
    mine, now = this_environment(), datetime.now(UTC)
    if adopt:
        database.write(lambda session: environments.replace(session, mine, now))
        return
    database.write(lambda session: environments.declare(session, mine, now))
    with database.read() as session:
        found = environments.current(session)
    if found is not None and found[0] != mine:
        raise refusal(*found)


def refusal(there: Environment, since: datetime) -> OtherEnvironment:
    """Why this process may not grade, what differs, and what can be done."""
    different = "; ".join(there.differences(this_environment()))
    return OtherEnvironment(
        f"This worker may not grade here: {different}. What grades in this database was said on "
        f"{since:%Y-%m-%d %H:%M} UTC, and grades are compared with each other. Install that "
        "version from its requirements.lock; or, if all workers are to change to this one, "
        "upgrade them and start one with `podium worker --adopt`."
    )
