"""Fill a new data directory: import the bundled competitions and make one admin key."""

from __future__ import annotations

import logging

from app.domain.states import Role
from app.errors import BadCompetition
from app.services.auth import new_key
from app.services.competitions.check_competition import folders_in
from app.services.competitions.import_folder import import_folder
from app.services.runtime.context import Context
from app.storage.queries import competitions, keys

log = logging.getLogger("podium")


def import_bundled(context: Context) -> int:
    """Import the bundled competition folders if there is no competition yet; returns their number.

    A folder with mistakes is logged and skipped.
    """
    with context.database.read() as session:
        if competitions.list_current(session, limit=1):
            return 0
    count = 0
    for folder in folders_in(context.settings.competitions_dir, []):
        try:
            import_folder(context, folder)
            count += 1
        except BadCompetition as error:
            log.error("a bundled competition cannot be imported",  # noqa: TRY400 (the text suffices)
                      extra={"slug": folder.name, "problems": error.problems})  # fmt: skip
    return count


def first_admin_key(context: Context) -> str | None:
    """Make an admin key if none was ever made. Returns the key, which is not stored, or None.

    If several servers start on an empty database at the same time, one of them makes it.
    """
    key, record = new_key(Role.ADMIN, "first start")
    made = context.database.write(lambda session: keys.add_first_admin(session, record))
    return key if made else None
