"""Compare the rows of signing keys, reviews and archivings with the log."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy.orm import Session

from app.domain.states import ArchivalKind
from app.services.public_log.append import KEY_ENTRY
from app.storage.queries import archive
from app.storage.queries.reviews import decisions
from app.storage.queries.trust import log, signing_keys
from app.storage.queries.trust.log import LogEntryRecord
from app.storage.queries.trust.signing_keys import SigningKeyRecord

# Kinds of entries, as reviews and archivings log them.
EXCLUSION, ARCHIVING, RESTORATION = "exclusion", "archiving", "restoration"
DECISIONS = (EXCLUSION, "inclusion", "annotation")


def check_keys(
    session: Session, known: Mapping[str, SigningKeyRecord]
) -> Iterator[tuple[str, str]]:
    """Differences between the rows of signing keys and their acts in the log.

    `known` are the keys that were read before the log. Servers may make and retire keys meanwhile.
    """
    acts = _acts(session, KEY_ENTRY)
    keys = {key.id: key for key in signing_keys.all_keys(session)}
    for about in acts:
        problem = _key_problem(about, keys.get(str(about.get("key"))))
        if problem is not None:
            yield f"signing key {about.get('key')}", problem
    made = {about.get("key") for about in acts if about.get("act") == "made"}
    for key_id in sorted(set(known) - made):
        yield f"signing key {key_id}", "the log has no entry that it was made: the row was added"


def check_acts(session: Session) -> Iterator[tuple[str, str]]:
    """Differences between the log's acts and the rows that say what rates leave out.

    What was archived before there was a log is not checked.
    """
    yield from _check_reviews(session)
    yield from _check_archivings(session)


def _check_reviews(session: Session) -> Iterator[tuple[str, str]]:
    acts = _acts(session, *DECISIONS)
    excludes = {str(about.get("run")): about.get("kind") == EXCLUSION for about in acts}
    excluded = set(decisions.excluded_ids(session))
    for run in sorted(excluded | excludes.keys()):
        if excludes.get(run, False) != (run in excluded):
            reality = "a review excludes it" if run in excluded else "no review excludes it"
            yield f"run {run}", f"{reality}, and the log says otherwise: rows were changed"


def _check_archivings(session: Session) -> Iterator[tuple[str, str]]:
    acts = _acts(session, ARCHIVING, RESTORATION)
    archives = {(a.get("what"), a.get("name")): a.get("kind") == ARCHIVING for a in acts}
    for kind in ArchivalKind:
        archived = set(session.execute(archive.names_of(kind)).scalars())
        for (what, name), is_archived in archives.items():
            if what == kind.value and is_archived != (name in archived):
                reality = "it is archived" if name in archived else "it is not archived"
                yield f"{what} {name}", f"{reality}, and the log says otherwise: rows were changed"


def _acts(session: Session, *kinds: str) -> list[dict[str, Any]]:
    """The acts of these kinds, in order, without those whose entries were changed."""
    numbers = sorted(number for kind in kinds for number in log.numbers_of(session, kind))
    return [about for number in numbers if (about := _act(log.entry(session, number)))]


def _act(entry: LogEntryRecord | None) -> dict[str, Any]:
    """The content of an act; None if its entry was changed, which the check of the log reports."""
    try:
        found = json.loads((entry and entry.record) or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _key_problem(about: dict[str, Any], key: SigningKeyRecord | None) -> str | None:
    if key is None:
        return "its row was removed"
    match about.get("act"):
        case "made" if about.get("public_key") != key.public_key:
            return "its public key was changed"
        case "retired" if key.valid_before is None:
            return "it was retired, and its row does not say so: the row was changed"
        case "revoked" if key.revoked_at is None or key.reason != about.get("reason"):
            return "it was revoked, and its row does not say so: the row was changed"
    return None
