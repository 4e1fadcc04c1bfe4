"""Routes for calls of Kaggle's clients, which are POSTs to `<service>/<method>`.

Every error is `{"code": ..., "message": ...}`: these clients show nothing else of an answer.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any, TypeVar

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from app.api.http.problems import detail_for
from app.api.http.request_log import request_id
from app.api.http.unexpected_errors import of_the_system
from app.errors import PodiumError, Unauthorized
from app.services.auth import HOW_TO

log = logging.getLogger("podium.kaggle")
COMPETITIONS = "competitions.CompetitionApiService"
PREFIXES = ("/api/v1", "/v1")  # for clients of localhost, and of api.kaggle.com
# kaggle 1.7 shows the message of an error only if its status is 200; otherwise it shows "403 Client
# Error: Forbidden for url". All its versions send this one name, and no other version does.
READS_ERRORS_OF_200 = "kaggle-api/v1.7"
# Users of Kaggle's commands set variables, not headers.
SET_KEY = (
    "Set KAGGLE_KEY, or KAGGLE_API_TOKEN, to the key of a run of this Podium. If `podium proxy` "
    "sends the key, put that key into its key file."
)
Handler = TypeVar("Handler", bound=Callable[..., Any])


class KaggleRoute(APIRoute):
    """A route that answers every error in the form that Kaggle's clients read."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The usual handler, with its errors as answers."""
        usual = super().get_route_handler()

        async def handler(request: Request) -> Response:
            try:
                return await usual(request)
            except Exception as error:
                answer = failure(request, error)
                if request.headers.get("User-Agent", "").startswith(READS_ERRORS_OF_200):
                    answer.status_code = 200
                return answer

        return handler


def failure(request: Request, error: Exception) -> JSONResponse:
    """The answer to a call that failed."""
    error = of_the_system(error) or error
    if isinstance(error, Unauthorized):
        detail = error.detail.replace(HOW_TO, SET_KEY)
        return error_response(error.status, detail, error.headers)
    if isinstance(error, PodiumError) and error.status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return error_response(error.status, error.detail, error.headers)
    if isinstance(error, PodiumError) and error.status != HTTPStatus.INTERNAL_SERVER_ERROR:
        detail = detail_for(request, error)
        return error_response(error.status, detail)  # no Retry-After: an upload would sleep on it
    if isinstance(error, HTTPException):
        return error_response(error.status_code, str(error.detail), dict(error.headers or {}))
    if isinstance(error, RequestValidationError):
        return error_response(400, "; ".join(str(e["msg"]) for e in error.errors()[:5]))
    if isinstance(error, ClientDisconnect):
        return error_response(400, "The connection ended early. Nothing was stored; send it again.")
    log.error("request failed", exc_info=error, extra={"path": request.url.path})
    return error_response(
        500,
        "This is Podium's fault. Give its operator the request id " + request_id.get() + ".",
    )


def error_response(code: int, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """An error in Kaggle's form."""
    return JSONResponse({"code": code, "message": message}, code, headers=headers)


def kaggle_router() -> APIRouter:
    """A router for Kaggle's clients; Podium's OpenAPI document leaves their calls out."""
    return APIRouter(route_class=KaggleRoute, include_in_schema=False)


def rpc(router: APIRouter, service: str, method: str) -> Callable[[Handler], Handler]:
    """Serve a method of one of Kaggle's services."""

    def register(handler: Handler) -> Handler:
        for prefix in PREFIXES:
            router.add_api_route(
                f"{prefix}/{service}/{method}", handler, methods=["POST"], response_model=None
            )
        return handler

    return register
