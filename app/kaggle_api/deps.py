"""The state of the Kaggle routes while the server runs, and the dependencies of their endpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request

from app.errors import Forbidden, NotFound
from app.kaggle_api.signed_urls import SignedUrls, secret_of
from app.services.auth import Caller, require_live_key
from app.services.competitions import queries
from app.services.experiments import runs
from app.services.runtime.catalogue import CatalogueEntry
from app.services.runtime.context import Context
from app.storage.database.records import RunRecord


@dataclass(frozen=True)
class KaggleState:
    """The state of the Kaggle routes; it has no data of clients."""

    tokens: SignedUrls

    def open(self, context: Context, purpose: str, token: str) -> dict[str, Any]:
        """The content of a token, which is the only permission of a signed address.

        Raises:
            Forbidden: as `SignedUrls.open`; or the key that it was given to is not valid any more.
        """
        content = self.tokens.open(purpose, token)
        require_live_key(context, str(content.get("key", "")))
        return content


def open_state(context: Context) -> KaggleState:
    """Make the state for a server with this context."""
    return KaggleState(SignedUrls(secret_of(context)))


async def _state(request: Request) -> KaggleState:
    found: KaggleState = request.app.state.kaggle
    return found


State = Annotated[KaggleState, Depends(_state)]


def entry_for(
    context: Context, caller: Caller, slug: str
) -> tuple[CatalogueEntry, RunRecord | None]:
    """The competition as this caller sees it.

    Raises:
        NotFound: this key cannot see it; the message names the run's own competition.
    """
    try:
        return queries.find(context, caller, slug)
    except NotFound:
        if not caller.is_run:
            raise
    mine = run_of(context, caller).competition
    raise NotFound(f"This key's run is at the competition {mine}; there is no {slug!r} for it.")


def run_of(context: Context, caller: Caller) -> RunRecord:
    """The run of this key.

    Raises:
        Forbidden: it is the key of an admin or researcher.
    """
    if caller.run_id is None:
        raise Forbidden(
            f"This is a key of the role {caller.role.value}. Submissions belong to a run: use the "
            "key that was made with the run (POST /v1/runs, or podium runs create)."
        )
    return runs.find(context, caller, caller.run_id)


def run_at(context: Context, caller: Caller, slug: str) -> tuple[RunRecord, CatalogueEntry]:
    """The caller's run, which must be at this competition."""
    run = run_of(context, caller)
    entry, _ = entry_for(context, caller, slug)
    return run, entry


def name_of(caller: Caller) -> str:
    """The key holder's name, as a user name of Kaggle: the run's id, or the role."""
    return caller.run_id or caller.role.value
