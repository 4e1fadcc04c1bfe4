"""Claims that a stopping worker could not return, in files that its next start reads.

A claim cannot be returned while the database is away, and a claim of a worker that is gone counts
as an attempt. So the worker notes it as an empty file `claims/<submission> <claimant>` in the data
directory.
"""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path

from app.services.runtime.context import Context
from app.settings import Settings
from app.storage.queries import claims

log = logging.getLogger("podium.worker")


def note(settings: Settings, submission_id: str, claimant: str) -> None:
    """Note a claim that is to be returned, if it was stored."""
    path = _directory(settings) / f"{submission_id} {claimant}"
    try:
        path.parent.mkdir(exist_ok=True)
        path.touch()
    except OSError as error:
        log.warning("cannot note a claim", extra={"reason": error.strerror})


def give_back_noted(context: Context) -> None:
    """Return the claims that earlier workers of this data directory noted; no attempt counts.

    A submission that another worker has claimed since is left alone.

    Raises:
        Unavailable: the database is away; the notes stay.
    """
    for path in [*_directory(context.settings).glob("* *")]:
        submission_id, claimant = path.name.split(" ")
        give_back = partial(claims.give_back, submission_id=submission_id, claimant=claimant)
        context.database.write(give_back)
        path.unlink(missing_ok=True)


def _directory(settings: Settings) -> Path:
    return settings.data_dir / "claims"
