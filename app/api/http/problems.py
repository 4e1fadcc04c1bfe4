"""Errors as `application/problem+json` (RFC 9457)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match

from app.api.http.body_limit import BodyRefused
from app.api.http.origin import redirect_without_slash
from app.api.http.patterns import in_words
from app.api.http.request_log import CALLER, request_id
from app.api.http.unexpected_errors import UnexpectedErrors, of_the_system
from app.domain.states import Role
from app.errors import BadRequest, Invalid, NotFound, PodiumError, TooLarge

log = logging.getLogger("podium.api")
router = APIRouter()
MEDIA_TYPE = "application/problem+json"
UNREADABLE = "There was an error parsing the body"  # FastAPI's detail, whatever a body raises
SCHEMA: dict[str, Any] = {
    "type": "object",
    "title": "Problem",
    "description": "A problem (RFC 9457).",
    "required": ["type", "title", "status", "detail", "instance"],
    "properties": {
        "type": {"type": "string", "description": "`/problems/<name>`, a page that explains it"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "what is wrong, where, and what to do"},
        "instance": {"type": "string", "description": "the path of the request"},
        "errors": {"type": "array", "items": {"type": "object"}},
        "problems": {"type": "array", "items": {"type": "object"}},
        "request_id": {"type": "string"},
    },
}
MOST_ERRORS = 100  # in one answer; a body of 256 KiB can have 40,000
ALWAYS = (500, 503)  # Podium's faults, possible on every route
READERS = (Role.RESEARCHER, Role.ADMIN)
METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")


class TruncatedBody(BadRequest):
    """The body is incomplete.

    The connection ended before the last byte. Nothing was stored; send the request again.
    """


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems that an endpoint may answer, for its OpenAPI description."""
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status in sorted({*statuses, *ALWAYS})
    }


def document(
    request: Request, *, slug: str, title: str, status: int, detail: str, **more: Any
) -> dict[str, Any]:
    """A problem document for this request."""
    return {
        "type": f"/problems/{slug}",
        "title": title,
        "status": status,
        "detail": detail,
        "instance": request.url.path,
        **more,
    }


def install(app: FastAPI) -> None:
    """Turn every error of this application into a problem document."""
    redirect_without_slash(app.router)  # a path that has no route then is 404
    app.add_exception_handler(PodiumError, _podium_error)
    app.add_exception_handler(HTTPException, _http_exception)
    app.add_exception_handler(RequestValidationError, _invalid_request)
    app.add_exception_handler(ClientDisconnect, _client_disconnect)
    app.add_exception_handler(Exception, _unexpected)
    app.add_middleware(UnexpectedErrors)


def _answer(content: dict[str, Any], headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse(content, content["status"], headers=headers, media_type=MEDIA_TYPE)


async def _podium_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, PodiumError)  # noqa: S101 (registered for this class only)
    if error.status == HTTPStatus.INTERNAL_SERVER_ERROR:
        return await internal_error(request, error)
    return _answer(
        document(
            request, slug=error.slug(), title=error.title(), status=error.status,
            detail=detail_for(request, error), **error.extensions,
        ),
        error.headers,
    )  # fmt: skip


def detail_for(request: Request, error: PodiumError) -> str:
    """The part of an error that the caller may read: agents and strangers see no paths of files."""
    caller = request.scope.get(CALLER)
    reads_all = caller is not None and caller["role"] in READERS
    return error.detail if reads_all else error.for_strangers


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    """507 for a full disk, also of temporary files; 503 for a used-up resource; otherwise 500."""
    known = of_the_system(error)
    if known is not None:
        return await _podium_error(request, known)
    return await internal_error(request, error)


async def _http_exception(request: Request, error: Exception) -> JSONResponse:
    """Starlette's errors: no such route, method not allowed, a body that cannot be parsed."""
    assert isinstance(error, HTTPException)  # noqa: S101
    if isinstance(error, BodyRefused):
        return await _podium_error(request, error.error)
    # FastAPI says of every error while it reads a body that the body cannot be parsed.
    known = of_the_system(error.__cause__) if error.__cause__ else None
    if known is not None:
        return await _podium_error(request, known)
    if error.status_code == TooLarge.status:
        return await _podium_error(request, TooLarge(str(error.detail)))
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        error.headers = {**(error.headers or {}), "Allow": _methods(request)}
    phrase = HTTPStatus(error.status_code).phrase
    return _answer(
        document(
            request, slug=phrase.lower().replace(" ", "-"), title=phrase,
            status=error.status_code, detail=_in_words(request, error, phrase),
        ),
        dict(error.headers or {}),
    )  # fmt: skip


def _in_words(request: Request, error: HTTPException, phrase: str) -> str:
    """The detail of an error, or a sentence if Starlette gives only the status."""
    if error.detail == UNREADABLE:
        coding = request.headers.get("Content-Encoding", "identity").strip().lower()
        return (
            "This body cannot be read: send JSON in UTF-8, without deep nesting or endless numbers."
            if coding == "identity"
            else f"This body has Content-Encoding: {coding[:40]}. Send its JSON unpacked."
        )
    if error.detail != phrase:
        return str(error.detail)
    match error.status_code:
        case HTTPStatus.NOT_FOUND:
            return f"There is no address {request.url.path[:200]!r} here: /docs lists all."
        case HTTPStatus.METHOD_NOT_ALLOWED:
            allowed = (error.headers or {}).get("Allow", "")
            return f"This address takes {allowed}, not {request.method}."
    return phrase


def _methods(request: Request) -> str:
    """All methods of the address, for `Allow`: Starlette names only those of its first route."""
    scope = request.scope
    here = [one for one in request.app.routes if one.matches({**scope})[0] is Match.PARTIAL]
    found = {
        method
        for method in METHODS
        if any(one.matches({**scope, "method": method})[0] is Match.FULL for one in here)
    }
    return ", ".join(sorted(found | ({"HEAD"} if "GET" in found else set())))  # HeadRequests


async def _invalid_request(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    found = [
        {"where": ".".join(str(part) for part in e["loc"]), "message": in_words(e)}
        for e in error.errors()[:MOST_ERRORS]
    ]
    detail = "; ".join(f"{e['where']}: {e['message']}" for e in found[:5])
    return _answer(
        document(
            request, slug=Invalid.slug(), title=Invalid.title(), status=Invalid.status,
            detail=detail, errors=found,
        )
    )  # fmt: skip


async def _client_disconnect(request: Request, error: Exception) -> JSONResponse:
    """The connection ended before the body was complete: nothing was stored, nobody reads this."""
    return _answer(
        document(
            request, slug=TruncatedBody.slug(), title=TruncatedBody.title(),
            status=TruncatedBody.status,
            detail="The connection ended early. Nothing was stored; send the file again.",
        )
    )  # fmt: skip


async def internal_error(
    request: Request, error: Exception, fields: Mapping[str, str] = MappingProxyType({})
) -> JSONResponse:
    """An internal error: the log has the details, the answer only the id of the log line.

    `fields` are added to the answer.
    """
    log.error("request failed", exc_info=error, extra={"path": request.url.path})
    return _answer(
        document(
            request, slug=PodiumError.slug(), title=PodiumError.title(), status=500,
            detail="This is Podium's fault. Give its operator the request_id.",
            request_id=request_id.get(), **fields,
        )
    )  # fmt: skip


def kinds_of_problems() -> list[type[PodiumError]]:
    """All errors that have a page: `PodiumError` and its subclasses, wherever they are defined."""
    found: list[type[PodiumError]] = [PodiumError]
    for error in found:
        found += error.__subclasses__()
    return found


@router.get(
    "/problems/{name}",
    response_class=PlainTextResponse,
    responses=responses(404, 422),
    tags=["service"],
)
def explain(name: str) -> str:
    """Explain the `type` of a problem."""
    for error in kinds_of_problems():
        if error.slug() == name:
            return f"{error.title()}\n\nHTTP status {error.status}.\n\n{error.__doc__}\n"
    if name == "invalid-submission":
        return (
            "The file is not a valid submission\n\n"
            "`violations` lists every problem found, at most 20 of `violation_count`.\n"
        )
    raise NotFound(f"There is no problem type {name!r}.")
