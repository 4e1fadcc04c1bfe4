"""What endpoints ask for: the context, the key, who is calling, and a page's bounds."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path, Query, Request
from fastapi.security import HTTPBasic, HTTPBasicCredentials, HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials

from app.services.caller import Caller, authenticate, require_admin, require_researcher
from app.services.context import Context

BEARER = HTTPBearer(auto_error=False, description="A key: `Authorization: Bearer pod_...`")


async def context(request: Request) -> Context:
    """The Podium that this application serves."""
    found: Context = request.app.state.context
    return found


async def key(
    request: Request,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)],
) -> str | None:
    """The key that came with the request: as a Bearer token or as a Basic password."""
    if bearer is not None:
        return bearer.credentials
    if request.headers.get("Authorization", "").lower().startswith("basic "):
        basic: HTTPBasicCredentials | None = await HTTPBasic(auto_error=False)(request)
        return basic.password if basic else None
    return None


Ctx = Annotated[Context, Depends(context)]
Key = Annotated[str | None, Depends(key)]


def caller(context: Ctx, key: Key) -> Caller:
    """Who is calling."""
    return authenticate(context, key)


Anyone = Annotated[Caller, Depends(caller)]


def researcher(caller: Anyone) -> Caller:
    """A researcher or an admin."""
    require_researcher(caller)
    return caller


def admin(caller: Anyone) -> Caller:
    """An admin."""
    require_admin(caller)
    return caller


Researcher = Annotated[Caller, Depends(researcher)]
Admin = Annotated[Caller, Depends(admin)]
Limit = Annotated[int, Query(ge=1, le=1000, description="at most this many items")]
Cursor = Annotated[
    str | None,
    Query(max_length=200, pattern=r"^[^\x00]*$", description="`next_cursor` of the last page"),
]
Slug = Annotated[str, Path(max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9-]*$")]
Id = Annotated[str, Path(max_length=64, pattern=r"^[a-z0-9_]+$")]
