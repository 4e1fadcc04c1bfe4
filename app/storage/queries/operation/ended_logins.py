"""Logins that their owner has ended. Every server of one Podium sees these rows."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import bindparam, delete, select
from sqlalchemy.orm import Session

from app.storage.database.rows import insert_if_new
from app.storage.database.tables.operation import EndedLogin

TABLE = EndedLogin.__table__
# Rows are kept this long because a clock may be ahead for a while: a row deleted then would let
# the ended login open pages again once the clock is right.
KEPT = timedelta(days=400)
FIND = select(TABLE.c.login).where(TABLE.c.login == bindparam("login"))  # read for each page


def add(session: Session, login: str, until: datetime, now: datetime) -> None:
    """Store that a login was ended; forget those that expired long ago."""
    session.execute(delete(TABLE).where(TABLE.c.until < now - KEPT))
    insert_if_new(session, TABLE, ("login",), {"login": login, "until": until})


def has(session: Session, login: str) -> bool:
    """Whether this login was ended."""
    return session.execute(FIND, {"login": login}).first() is not None
