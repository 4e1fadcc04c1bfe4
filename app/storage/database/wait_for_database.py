"""The database at the start of a process: waited for, and brought up to date."""

from __future__ import annotations

import logging
import time

from app.errors import Unavailable
from app.storage.database import migrations
from app.storage.database.engine import database_url
from app.storage.database.errors import is_outage

log = logging.getLogger("podium.storage")
PAUSE_SECONDS = 1.0


def upgrade_when_reachable(text: str, seconds: float) -> None:
    """Bring the schema up to date; a database that is not there yet is waited for.

    Raises:
        Unavailable: it was not there in time, with the reason.
        BadDatabaseUrl, SchemaTooNew: waiting would not help.
    """
    place = database_url(text).render_as_string(hide_password=True)
    deadline = time.monotonic() + seconds
    is_told = False
    while True:
        try:
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
        if not is_told:
            log.warning("waiting for the database", extra={"database": place, "why": reason})
            is_told = True
        time.sleep(PAUSE_SECONDS)
