"""Log in with a key, and out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse

from app.api.dependencies import Ctx, logins_of
from app.api.http.request_log import note_caller
from app.errors import Forbidden, RunArchived, Unauthorized
from app.services.auth import HOW_TO
from app.services.login import COOKIE
from app.web.rendering.fill_templates import page
from app.web.rendering.forms import refuse_other_sites

router = APIRouter(include_in_schema=False)
HOME = "/"
LONGEST = 100_000  # bytes of a form; of a shorter one the form itself says that the key is wrong
# Two names of 200 letters in an address have 4,800 characters; servers take some 64,000.
Next = Annotated[str, Query(max_length=LONGEST)]


@router.get("/login", response_class=HTMLResponse)
def show_login(request: Request, next: Next = HOME) -> Response:  # noqa: A002 (the parameter's name)
    """The form that asks for a key."""
    return login_page(request, own_address(next))


@router.post("/login", response_class=HTMLResponse)
async def log_in(
    request: Request,
    context: Ctx,
    key: Annotated[str, Form(max_length=LONGEST)] = "",
    next: Annotated[str, Form(max_length=LONGEST)] = HOME,  # noqa: A002
) -> Response:
    """Remember a researcher's or admin's key in a cookie; other keys are refused."""
    refuse_other_sites(request)
    target = own_address(next)
    logins = logins_of(request)
    try:
        caller, cookie = await run_in_threadpool(logins.log_in, context, key)
    except (Unauthorized, Forbidden, RunArchived) as refusal:
        why = refusal.detail.replace(HOW_TO, "Check that you copied all of it.")
        why = why if key.strip() else "Type the key of an admin or a researcher."
        return login_page(request, target, why, refusal.status)
    # The browser forgets its login before this one, so nobody could end that by a log-out.
    await run_in_threadpool(logins.log_out, context, request.cookies.get(COOKIE, ""))
    note_caller(request.scope, caller.key_id, caller.role.value)
    answer = RedirectResponse(target, 303)
    answer.set_cookie(
        COOKIE,
        cookie,
        max_age=logins.seconds,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer


@router.post("/logout")
def log_out(request: Request, context: Ctx) -> Response:
    """End the login, and let the browser forget its cookie."""
    refuse_other_sites(request)
    logins_of(request).log_out(context, request.cookies.get(COOKIE, ""))
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(
        COOKIE, httponly=True, samesite="strict", secure=request.url.scheme == "https"
    )
    return answer


def login_page(request: Request, target: str, why: str = "", status: int = 200) -> Response:
    """The form, with the reason why it is asked or was refused."""
    return page(request, None, "login.html", title="Log in", status=status, target=target, why=why)


def own_address(target: str) -> str:
    """The target of a redirect if it is a path of this Podium, else the first page.

    >>> own_address("/runs/run_1?a=b"), own_address("//evil.example"), own_address("https://x")
    ('/runs/run_1?a=b', '/', '/')
    """
    is_path = target.startswith("/") and not target.startswith(("//", "/\\"))
    return target if is_path and target.isprintable() and "\\" not in target else HOME
