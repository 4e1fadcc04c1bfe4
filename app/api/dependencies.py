"""Dependencies of endpoints: the context, the key, the caller, the bounds of a page."""

from __future__ import annotations

import base64
import contextlib
import hmac
import re
from typing import Annotated

from fastapi import Depends, Path, Query, Request
from fastapi.security import HTTPBearer
from pydantic import AfterValidator
from sqlalchemy.exc import DatabaseError
from starlette.types import Scope

from app.api.http.query_names import refuse_ignored_parameters
from app.api.http.request_log import CALLER, note_caller
from app.api.http.turns.request_turns import OF_KEY, OF_RUN, TurnHolder
from app.domain.states import Role
from app.errors import NotFound, PodiumError
from app.services.auth import (
    Caller,
    authenticate,
    identify,
    key_digest,
    require_admin,
    require_grader,
    require_no_harness,
    require_researcher,
)
from app.services.login import COOKIE, Logins
from app.services.runtime.context import Context


async def context(request: Request) -> Context:
    """The context of this application."""
    found: Context = request.app.state.context
    return found


def logins_of(request: Request) -> Logins:
    """The logins of this application."""
    found: Logins = request.app.state.logins
    return found


READS = frozenset({"GET", "HEAD"})
IDENTIFIED = "podium.identified"  # of a request's scope: the caller, found before the body
KEY_SCHEME = "key"  # its name in the OpenAPI document
RUN_KEYS = f"pod_{Role.RUN.value}_"  # the prefix of the keys of runs
KAGGLE_CALLS = "Service/"  # in the paths of calls of Kaggle's clients, which read by POST


def sent_key(request: Request) -> str | None:
    """The key of a request, as a Bearer token or as a Basic password; None without one."""
    scheme, _, credentials = request.headers.get("Authorization", "").partition(" ")
    match scheme.lower():
        case "bearer":
            return credentials.strip()
        case "basic":
            with contextlib.suppress(ValueError):
                return base64.b64decode(credentials).decode().partition(":")[2]
    return None


class KeyScheme(HTTPBearer):
    """The key of a request, as a dependency."""

    async def __call__(self, request: Request) -> str | None:  # type: ignore[override]
        """The key; None without one."""
        return sent_key(request)


# Results that read all runs one by one: for 40,000 runs one takes 60 to 260 MB while it is
# computed. Medal rates read less of each run, and take 30 MB.
OF_ALL_RUNS = re.compile(
    r"/v1/experiments/[^/]+/(outcomes|uncertainty|medals-over-time|selection|scores|pass-at-k"
    r"|success-rates|grading-report)/?"
    r"|/v1/competitions/[^/]+/results/?"
    r"|/experiments/[^/]+(/(medals-over-time|heat-map)(\.[a-z.]+)?)?/?"
    r"|/competitions/[^/]+(/leaderboard\.[a-z.]+)?/?"
)


def _credentials(scope: Scope) -> str | None:
    request = Request(scope)
    return sent_key(request) or request.cookies.get(COOKIE)


def sender(scope: Scope) -> str | None:
    """The digest of the key or login that a request was sent with; None without one."""
    credentials = _credentials(scope)
    return key_digest(credentials) if credentials else None


def has_valid_key(scope: Scope) -> bool:
    """Whether the key or login of a request was looked up and is valid."""
    return CALLER in scope


def turn_holder(scope: Scope) -> TurnHolder | None:
    """The key or login whose turn a reading request takes; None for other requests."""
    if scope["method"] not in READS and KAGGLE_CALLS not in scope["path"]:
        return None
    name = _credentials(scope)
    if not name:
        return None
    if OF_ALL_RUNS.fullmatch(scope["path"]):
        return TurnHolder(f"{name} and all runs", 1)
    return TurnHolder(name, OF_RUN if name.startswith(RUN_KEYS) else OF_KEY)


Ctx = Annotated[Context, Depends(context)]
Key = Annotated[
    str | None,
    Depends(KeyScheme(scheme_name=KEY_SCHEME, description="`Authorization: Bearer pod_...`")),
]


def any_caller(request: Request, context: Ctx, key: Key) -> Caller:
    """The holder of the request's key; no query parameter of the request would be ignored.

    A browser that is logged in may read (GET) with its cookie instead of a key.
    """
    cookie = request.cookies.get(COOKIE)
    if key is None and cookie and request.method in READS:
        found = logins_of(request).read(context, cookie)
    else:
        # Before a body was read, `app.api.admit` found the caller.
        found = request.scope.get(IDENTIFIED) or identify(context, key)
    note_caller(request.scope, found.key_id, found.role.value)
    request.state.caller = found
    refuse_ignored_parameters(request)
    return found


# Every route that does not allow a harness's key refuses it.
AlsoHarness = Annotated[Caller, Depends(any_caller)]


# These do not wait. They are coroutines, because FastAPI runs functions in threads, and a thread
# switch takes longer than they do.
async def caller(found: AlsoHarness) -> Caller:
    """The holder of the request's key, who is not a harness."""
    require_no_harness(found)
    return found


Anyone = Annotated[Caller, Depends(caller)]


async def grader(caller: AlsoHarness) -> None:
    """Refuse callers who are neither harness nor researcher nor admin."""
    require_grader(caller)


async def researcher(caller: Anyone) -> None:
    """Refuse callers who are neither researcher nor admin."""
    require_researcher(caller)


async def admin(caller: Anyone) -> None:
    """Refuse callers who are not admin."""
    require_admin(caller)


def reads_results(request: Request, context: Context) -> bool:
    """Whether a request to a route that needs no key is from a researcher or admin.

    It starts no run's clock, because it may be a health check. While the database is away or
    damaged, everybody is a stranger.
    """
    key, cookie = sent_key(request), request.cookies.get(COOKIE)
    try:
        if key is None and cookie:
            return logins_of(request).read(context, cookie).reads_results
        with context.database.read() as session:
            return authenticate(session, key).reads_results
    except (PodiumError, DatabaseError):
        return False


def metrics_reader(request: Request, context: Ctx, key: Key) -> None:
    """Refuse callers who have neither the key of PODIUM_METRICS_KEY nor a researcher's."""
    expected = context.settings.metrics_key.get_secret_value()
    # That key is compared without the database, so metrics are available while it is away.
    if expected and hmac.compare_digest(expected.encode(), (key or "").encode()):
        return
    require_researcher(any_caller(request, context, key))


# For `dependencies=[...]` of a router or a route: the role that every caller of it needs.
FOR_RESEARCHERS = Depends(researcher)
FOR_HARNESSES = Depends(grader)
FOR_ADMINS = Depends(admin)
FOR_METRICS = Depends(metrics_reader)
Limit = Annotated[int, Query(ge=1, le=1000, description="at most this many items")]
OptionalLimit = Annotated[
    int | None, Query(ge=1, le=1000, description="at most this many items; all without it")
]
Archived = Annotated[bool, Query(description="also what is archived")]
Cursor = Annotated[
    str | None,
    Query(max_length=200, pattern=r"^[^\x00]*$", description="`next_cursor` of the last page"),
]
Slug = Annotated[str, Path(max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9-]*$")]
Id = Annotated[str, Path(max_length=64, pattern=r"^[a-z0-9_]+$")]


def _experiment(name: str) -> str:
    # PostgreSQL refuses a NUL in a text; SQLite accepts it and finds nothing.
    if "\0" in name:
        raise NotFound(f"There is no experiment {name!r}.")
    return name


ExperimentPath = Annotated[str, Path(max_length=200), AfterValidator(_experiment)]
