"""Errors as pages, for browsers: what is wrong, and what to do. Programs get problem documents."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response

from app.services.auth import Caller
from app.services.login import COOKIE
from app.system_limits import is_used_up
from app.web.login import login_page
from app.web.rendering.fill_templates import asked_path, page
from app.web.rendering.forms import FROM_ELSEWHERE

Handler = Callable[[Request, Exception], Awaitable[Response]]
# Programs call addresses below these, where every error is a problem document.
FOR_PROGRAMS = (
    "/v1/", "/api/", "/validate", "/health", "/readyz", "/metrics", "/problems/", "/openapi.json",
    "/SKILL.md", "/llms.txt",
)  # fmt: skip
ADVICE = {
    HTTPStatus.FORBIDDEN: "Log in with another key, or ask the operator of this Podium.",
    HTTPStatus.NOT_FOUND: "The name may be mistyped, or it was archived since this address was "
    "made. The lists above have everything that exists.",
    HTTPStatus.METHOD_NOT_ALLOWED: "Open the page first, and send the form from there.",
    HTTPStatus.CONFLICT: "Choose other settings on the page before this one.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "Correct the address, or begin again from the lists above.",
    HTTPStatus.SERVICE_UNAVAILABLE: "Nothing is lost. Open the page again in some seconds.",
}
# Going back would not help: that page may not open now, and typed text would be lost.
SEND_AGAIN = "your browser then sends the form again, with all that you typed."
OF_FORMS = {
    HTTPStatus.CONFLICT: "",  # the detail says what is done already, or in progress
    HTTPStatus.UNPROCESSABLE_ENTITY: "Go back, correct the form, and send it again.",
    HTTPStatus.SERVICE_UNAVAILABLE: f"Reload this page in some seconds: {SEND_AGAIN}",
    HTTPStatus.INSUFFICIENT_STORAGE: "Ask the operator of this Podium to make room on that disk, "
    f"then reload this page: {SEND_AGAIN}",
}


def install(app: FastAPI) -> None:
    """Let every error handler of this application answer browsers with a page."""
    for kind, handler in list(app.exception_handlers.items()):
        app.add_exception_handler(kind, _for_browsers(handler))  # type: ignore[arg-type]


def wants_page(request: Request) -> bool:
    """Whether a browser asks for a page, and not a program for a document."""
    accepts = "text/html" in request.headers.get("Accept", "")
    return accepts and not request.url.path.startswith(FOR_PROGRAMS)


def _for_browsers(handler: Handler) -> Handler:
    async def handle(request: Request, error: Exception) -> Response:
        answer = await handler(request, error)
        if not wants_page(request):
            return answer
        try:
            return _page(request, answer)
        except Exception as unexpected:
            if is_used_up(unexpected):  # the templates cannot be read now
                return answer
            raise

    return handle


def _page(request: Request, answer: Response) -> Response:
    problem: dict[str, Any] = json.loads(bytes(answer.body))
    status = HTTPStatus(problem["status"])
    if status is HTTPStatus.UNAUTHORIZED:
        query = f"?{request.url.query}" if request.url.query else ""
        first = COOKIE not in request.cookies and "Authorization" not in request.headers
        why = "" if first else problem["detail"]
        if request.method == "POST":  # each form is sent to the address of its page
            why = f"{problem['detail']} Nothing was done: send the form again after the login."
        shown = login_page(request, f"{asked_path(request)}{query}", why, status)
        shown.headers["WWW-Authenticate"] = answer.headers["WWW-Authenticate"]
        return shown
    title, advice = problem["title"], ADVICE.get(status, "")
    if problem["detail"] == FROM_ELSEWHERE:  # its text says what to do
        title, advice = "Nothing was done", ""
    elif request.method == "POST":
        advice = OF_FORMS.get(status, advice)
    # A reader who is logged in gets the links of other pages; some errors come before the look-up.
    caller: Caller | None = getattr(request.state, "caller", None)
    reader = caller if caller is not None and caller.reads_results else None
    shown = page(
        request, reader, "error.html", title=title, status=status,
        detail=problem["detail"], code=int(status), advice=advice,
        request_id=problem.get("request_id", ""),
    )  # fmt: skip
    for name in ("Retry-After", "Allow"):
        if name in answer.headers:
            shown.headers[name] = answer.headers[name]
    return shown
