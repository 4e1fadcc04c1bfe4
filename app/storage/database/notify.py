"""News: which submissions were settled and which runs changed, told when, and only if, it commits.

News is a set of ids. A submission's id says that it is settled; a run's id says that something of
the run is new: a submission came, its state changed, the run was closed. Nothing else is told:
whoever hears of an id reads the rows. So news may be told in vain (its transaction's part was
undone), or twice, but what was committed is never left untold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlalchemy import text
from sqlalchemy.orm import Session

CHANNEL = "podium"
PAYLOAD_BYTES = 7999  # PostgreSQL takes less than 8000 in one notification
KEY = "podium.news"
NOTIFY = text("SELECT pg_notify(:channel, :payload)")


def publish(session: Session, ids: Iterable[str]) -> None:
    """Note, in a write, what there will be to tell once it is committed."""
    session.info.setdefault(KEY, {}).update(dict.fromkeys(ids))


def send(session: Session) -> list[str]:
    """Hand over what was noted, just before the commit; returns what this process has to tell.

    PostgreSQL tells every process that listens, this one too, and does so after the commit. With
    SQLite there is no other process to tell.
    """
    noted: dict[str, None] = session.info.pop(KEY, {})
    if session.get_bind().dialect.name != "postgresql":
        return list(noted)
    for payload in payloads(noted):
        session.execute(NOTIFY, {"channel": CHANNEL, "payload": payload})
    return []


def payloads(ids: Iterable[str]) -> Iterator[str]:
    """Ids joined by spaces, as few texts as hold them.

    >>> list(payloads(["sub_1", "run_1"]))
    ['sub_1 run_1']
    >>> [len(each) for each in payloads("s" * 30 for _ in range(300))]
    [7997, 1301]
    """
    line: list[str] = []
    length = 0
    for one in ids:
        if line and length + 1 + len(one) > PAYLOAD_BYTES:
            yield " ".join(line)
            line, length = [], 0
        length += len(one) + (1 if line else 0)
        line.append(one)
    if line:
        yield " ".join(line)
