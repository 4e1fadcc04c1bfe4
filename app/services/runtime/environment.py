"""Whether this process may grade: all graders of one database need the same environment."""

from __future__ import annotations

from datetime import UTC, datetime

from app.errors import Conflict
from app.grading_version import environment, grading_version
from app.storage.database.database import Database
from app.storage.queries.operation import environments
from app.storage.queries.operation.environments import Environment


class OtherEnvironment(Conflict):
    """This worker's grades could differ from the grades in this database."""


def this_environment() -> Environment:
    """The environment of this process, as its grades would name it."""
    return Environment(grading_version(), environment())


def agree(database: Database, *, adopt: bool = False) -> None:
    """Check that this process has the environment that grades for this database.

    The first process sets the environment. With `adopt` this process replaces it, and workers with
    another environment then refuse to claim submissions.

    Raises:
        OtherEnvironment: the database has another environment.
    """
    own, now = this_environment(), datetime.now(UTC)
    if adopt:
        database.write(lambda session: environments.replace(session, own, now))
        return
    database.write(lambda session: environments.declare(session, own, now))
    with database.read() as session:
        found = environments.current(session)
    if found is not None and found[0] != own:
        raise refusal(*found)


def refusal(required: Environment, since: datetime) -> OtherEnvironment:
    """The error for a process that may not grade; it lists the differences and the remedies."""
    different = "; ".join(required.differences(this_environment()))
    return OtherEnvironment(
        f"This worker may not grade here: {different}. The environment of this database was set on "
        f"{since:%Y-%m-%d %H:%M} UTC, and all its grades must be comparable. Install that "
        "version from its requirements.lock; or, if all workers are to change to this one, "
        "upgrade them and start one with `podium worker --adopt`."
    )
