"""Fill a new data directory: import the bundled competitions and make one admin key."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

from app.domain.states import Role
from app.errors import BadCompetition
from app.services.competitions.folders import folders_in
from app.services.competitions.import_folder import import_folder
from app.services.new_keys import new_key
from app.services.operations.keys import revoke
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


@contextlib.contextmanager
def first_admin_key(context: Context) -> Iterator[str | None]:
    """Make an admin key if there never was one. Yields the key, which is not stored, or None.

    If several servers start on an empty database at the same time, one of them makes it. If it
    cannot be shown, so that an error leaves this context, the key is revoked, because nobody has
    seen it.
    """
    key, record = new_key(Role.ADMIN, "first start")
    made = context.database.write(lambda session: keys.add_first_admin(session, record))
    try:
        yield key if made else None
    except BaseException:
        if made:
            revoke(context, record.id)
            log.error(  # noqa: TRY400 (the error itself is told by who called)
                "the first admin key could not be shown, so it was revoked; `podium keys create "
                "admin` makes another"
            )
        raise
