"""What a fresh data directory gets: the bundled competitions, and one admin key."""

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
    """Import the competition folders that came with Podium, if there is no competition yet.

    A folder with a mistake is told in the log and does not keep the others away.
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
            log.error("a bundled competition cannot be imported",  # noqa: TRY400 (its words say all)
                      extra={"slug": folder.name, "problems": error.problems})  # fmt: skip
    return count


def first_admin_key(context: Context) -> str | None:
    """An admin key, if none was ever made; to be shown this once.

    Of servers that start at once on an empty database one makes it.
    """
    key, record = new_key(Role.ADMIN, "first start")
    made = context.database.write(lambda session: keys.add_first_admin(session, record))
    return key if made else None
