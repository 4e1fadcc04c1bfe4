"""Notify all processes of settled submissions and changed runs, once the change is committed.

A notification is a set of ids. A submission's id means that the submission is settled. A run's id
means that the run changed: a submission was received, its state changed, or the run was closed. A
notification has no other content: its receivers read the rows. It may be sent without need (if a
part of the transaction was undone) or twice, but every committed change is notified.

A process that listens to PostgreSQL holds a lock under its name, so others know whether it is
alive, and one under the name of its environment, so others know whether any process grades in that
environment.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

CHANNEL = "podium"
PAYLOAD_BYTES = 7999  # PostgreSQL's limit for one notification is less than 8000 bytes
SESSION_KEY = "podium.notifications"
NOTIFY = text("SELECT pg_notify(:channel, :payload)")


def publish(session: Session, ids: Iterable[str]) -> None:
    """In a write, add ids to notify once it is committed."""
    session.info.setdefault(SESSION_KEY, {}).update(dict.fromkeys(ids))


def send(session: Session) -> list[str]:
    """Send the published ids, just before the commit. Returns the ids this process has to notify.

    PostgreSQL notifies every listening process, including this one, after the commit. With SQLite
    there is no other process, so all ids are returned.
    """
    noted_ids: dict[str, None] = session.info.pop(SESSION_KEY, {})
    if session.get_bind().dialect.name != "postgresql":
        return list(noted_ids)
    for payload in payloads(noted_ids):
        session.execute(NOTIFY, {"channel": CHANNEL, "payload": payload})
    return []


def payloads(ids: Iterable[str]) -> Iterator[str]:
    """Join ids by spaces into as few payloads as possible.

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


def lock_of(name: str) -> int:
    """The advisory lock of the process of this name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)


def is_listening(session: Session, name: str) -> bool:
    """Whether a process of this name listens. If not, it begins after this transaction."""
    free = select(func.pg_try_advisory_xact_lock(lock_of(name)))
    return not session.execute(free).scalar_one()
