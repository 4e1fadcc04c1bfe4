"""The facts about a competition version in a receipt."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from typing import Any

from sqlalchemy.orm import Session

from app.domain.competition import parse_competition
from app.domain.read_leaderboard import FILE as LEADERBOARD
from app.services.runtime.context import Context
from app.services.runtime.shared_secret import shared_secret
from app.storage.database.records import VersionFileRecord, VersionRecord
from app.storage.queries import version_files
from app.storage.queries.version_files import PRIVATE

SALT = "answers-salt"  # a secret: small answers could be guessed from a digest without it
KEPT_BYTES = 1000


def competition_facts(context: Context, session: Session, version: VersionRecord) -> dict[str, Any]:
    """The slug, number, digests and flags of a version, with its metric.

    `digest` is that of all files except the private ones, which have a salted digest.
    """
    competition = parse_competition(version.slug, version.toml)
    return {
        "competition": {
            "slug": version.slug,
            "version": version.number,
            **_digests(context, session, version.id),
            "flags": [flag.code for flag in competition.flags],
        },
        "metric": competition.metric.name,
        "lower_is_better": not competition.metric.higher_is_better,
    }


def _digests(context: Context, session: Session, version_id: int) -> dict[str, Any]:
    """A version never changes, so its digests are computed once: it may have many files."""
    key, losses = ("digests for receipts", version_id), context.database.losses
    found: dict[str, Any] | None = context.kept.get(key, losses)
    if found is None:
        salt = shared_secret(context, SALT)
        found = file_digests(version_files.all_files(session, version_id), salt)
        context.kept.put(key, losses, found, KEPT_BYTES)
    return found


def file_digests(files: Iterable[VersionFileRecord], salt: bytes) -> dict[str, Any]:
    """The digests of a version's public files, of its private files, and of its leaderboard."""
    public, private, board = hashlib.sha256(), hmac.new(salt, digestmod="sha256"), None
    has_private = False
    for file in sorted(files, key=lambda one: one.path):
        line = f"{file.sha256}  {file.path}\n".encode()
        if file.path.startswith(PRIVATE):
            private.update(line)
            has_private = True
        else:
            public.update(line)
        if file.path == LEADERBOARD:
            board = file.sha256
    return {
        "digest": {"sha256": public.hexdigest()},
        "answers": {"hmac-sha256": private.hexdigest()} if has_private else None,
        "leaderboard": None if board is None else {"sha256": board},
    }
