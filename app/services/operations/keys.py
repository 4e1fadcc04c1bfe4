"""Make, list and revoke keys."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session

from app.domain.states import ArchivalKind, Role
from app.domain.wording import counted
from app.errors import Invalid, NotFound
from app.services.experiments import experiments
from app.services.new_keys import new_key
from app.services.runtime.archival import refuse_archived
from app.services.runtime.context import Context
from app.services.runtime.pages import one_more, page_of
from app.services.runtime.run_limits import existing_run
from app.storage.database.records import KeyRecord
from app.storage.queries import keys, runs

LIFETIME = re.compile(r"([1-9][0-9]{0,4})([hd])")
LONGEST_NAME = 200
NAME = re.compile(r"^[^\x00-\x1f\x7f]*$")  # of the key's holder: no control characters


@dataclass(frozen=True, slots=True)
class NewKey:
    """A new key, which is shown once, its record, and the ids of the keys that were revoked."""

    key: str
    record: KeyRecord
    revoked: tuple[str, ...] = ()


def create(
    context: Context, role: Role, name: str, lifetime: str, experiment: str | None = None
) -> NewKey:
    """Make a key of an admin, a researcher, or a harness with its experiment.

    A `lifetime` is, for example, 12h or 90d; with "" the key does not expire.

    Raises:
        Invalid: the role is a run's, the name is too long or has control characters, the lifetime
            is not one, or role and experiment do not fit.
        NotFound: the experiment does not exist.
        Conflict: the experiment is archived.
    """
    refuse_unfit(role, experiment)
    if len(name) > LONGEST_NAME or not NAME.fullmatch(name):
        raise Invalid(
            f"The name of a key's holder is {name[:40]!r}, of {counted(len(name), 'character')}: "
            f"expected at most {LONGEST_NAME}, and no line ends or other control characters."
        )
    key, record = new_key(
        role, name, experiment=experiment or None, expires_in=parse_lifetime(lifetime)
    )

    def write(session: Session) -> None:
        if experiment:
            experiments.existing(session, experiment)
            refuse_archived(session, ArchivalKind.EXPERIMENT, experiment)
        keys.add_key(session, record)

    context.database.write(write)
    return NewKey(key, record)


def refuse_unfit(role: Role, experiment: str | None) -> None:
    """Refuse the role of a run, and an experiment for a role that has none.

    Raises:
        Invalid: the role is a run's, a harness has no experiment, or another role has one.
    """
    if role is Role.HARNESS and not experiment:
        raise Invalid("A harness's key is for one experiment: name it (--experiment, experiment).")
    if role is not Role.HARNESS and experiment:
        raise Invalid(f"Only a harness's key has an experiment; the role here is {role.value}.")
    if role is Role.RUN:
        raise Invalid(
            "A run's key is made with its run (podium runs create, POST /v1/runs), and a further "
            "one for its run (podium runs new-key, POST /v1/runs/{id}/keys)."
        )


def create_for_run(context: Context, run_id: str, *, revoke_others: bool) -> NewKey:
    """Make a further key of a run; with `revoke_others`, revoke its earlier keys.

    Raises:
        NotFound: the run does not exist.
    """
    with context.database.read() as session:
        run = existing_run(session, run_id)
    key, record = new_key(Role.RUN, f"{run.experiment}/{run.competition}/{run.seed}", run_id=run_id)

    def write(session: Session) -> tuple[str, ...]:
        if not revoke_others:
            keys.add_key(session, record)
            return ()
        runs.lock_run(session, run_id)  # of two at once, the second revokes the key of the first
        old = [each.id for each in keys.list_keys(session, run=run_id) if each.revoked_at is None]
        keys.add_key(session, record)
        for each in old:
            keys.revoke_key(session, each, datetime.now(UTC))
        return tuple(old)

    return NewKey(key, record, context.database.write(write))


def page(
    context: Context,
    *,
    role: Role | None = None,
    run: str | None = None,
    after: str | None = None,
    limit: int | None,
) -> tuple[list[KeyRecord], str | None]:
    """A page of keys, oldest first, without the keys themselves; and the next cursor."""
    with context.database.read() as session:
        found = keys.list_keys(session, role=role, run=run, after=after, limit=one_more(limit))
    return page_of(found, limit, lambda one: one.id)


def listed(context: Context, role: Role | None, run: str) -> list[KeyRecord]:
    """All keys of a role (None: of any) and of a run ("": of any), oldest first.

    Raises:
        NotFound: the run does not exist.
    """
    with context.database.read() as session:
        found = keys.list_keys(session, role=role, run=run or None)
        if run and not found:
            existing_run(session, run)
    return found


def count(context: Context, *, after: str | None = None) -> tuple[int, int]:
    """The number of keys up to the id `after` (None: 0), and of all keys."""
    with context.database.read() as session:
        return keys.count_keys(session, up_to=after) if after else 0, keys.count_keys(session)


def find(context: Context, key_id: str) -> KeyRecord | None:
    """The holder of the key with this id; None if there is no such key."""
    with context.database.read() as session:
        found = keys.get_key(session, key_id)
    return None if found is None else found.key


def revoke(context: Context, key_id: str) -> KeyRecord:
    """Revoke a key at once. A second call does not change the time.

    Raises:
        NotFound: there is no key with this id.
    """
    now = datetime.now(UTC)
    found = context.database.write(lambda session: keys.revoke_key(session, key_id, now))
    if found is None:
        raise NotFound(f"There is no key {key_id!r}; `podium keys list` shows their ids.")
    return found


def parse_lifetime(text: str) -> timedelta | None:
    """The time of `12h` or `90d`; None for an empty text.

    >>> parse_lifetime("12h"), parse_lifetime("")
    (datetime.timedelta(seconds=43200), None)

    Raises:
        Invalid: the text is something else.
    """
    if not text:
        return None
    match = LIFETIME.fullmatch(text)
    if match is None:
        raise Invalid(f"{text!r} is not a lifetime: write hours or days, as 12h or 90d.")
    count = int(match[1])
    return timedelta(hours=count) if match[2] == "h" else timedelta(days=count)
