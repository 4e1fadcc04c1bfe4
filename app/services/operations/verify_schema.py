"""The schemas that `podium verify` can check."""

from __future__ import annotations

from app import __version__
from app.errors import Conflict, SchemaTooNew
from app.storage.database.database import Database
from app.storage.database.revisions import current_revision, known_revisions

FIRST_WITH_REVIEWS = "0014"  # reviews are compared with what was signed


class OldSchema(Conflict):
    """The database cannot be verified yet."""


def refuse_other_schema(database: Database) -> None:
    """Refuse a schema that lacks what is compared. A check must not upgrade it.

    Raises:
        OldSchema: an older Podium migrated the database, or none did.
        SchemaTooNew: a newer one did, and may have stored what this one does not know.
        UnknownSchema: nobody knows which.
    """
    with database.read() as session:
        found = current_revision(session.connection())
    known = known_revisions()
    if found is None or (found in known and found < FIRST_WITH_REVIEWS):
        raise OldSchema(
            "Its schema is older than this Podium: verify with the Podium that runs there, or "
            "upgrade the database first (podium db upgrade)."
        )
    if found not in known:
        raise SchemaTooNew(
            f"The database has the schema {found}, and Podium {__version__} knows {known[-1]} and "
            "older ones: verify with the Podium that runs there."
        )
