"""At the start of a process, wait for the database and upgrade its schema."""

from __future__ import annotations

import logging
import time

from app.errors import Unavailable
from app.storage.database.engine import database_url
from app.storage.database.errors import is_outage
from app.storage.database.revisions import is_upgraded

log = logging.getLogger("podium.storage")
CHECK_SECONDS = 1.0


def upgrade_when_reachable(text: str, seconds: float) -> None:
    """Upgrade the schema. Wait up to `seconds` for a database that does not answer yet.

    Raises:
        Unavailable: the database did not answer in time; gives the reason.
        BadDatabaseUrl, SchemaTooNew: waiting would not help.
    """
    place = database_url(text).render_as_string(hide_password=True)
    deadline = time.monotonic() + seconds
    is_logged = False
    while True:
        try:
            if not is_upgraded(text):
                # This loads Alembic, which most starts do not need: they find the newest schema.
                from app.storage.database import migrations

                migrations.upgrade(text)
            return
        except Exception as error:
            if not is_outage(error):
                raise
            reason = " ".join(str(getattr(error, "orig", None) or error).split())
            if time.monotonic() >= deadline:
                raise Unavailable(
                    f"The database {place} (PODIUM_DATABASE_URL) cannot be used: {reason}"
                ) from error
        if not is_logged:
            log.warning("waiting for the database", extra={"database": place, "why": reason})
            is_logged = True
        time.sleep(CHECK_SECONDS)
