"""Who may send a form: a browser that is logged in here, from a page of this Podium."""

from __future__ import annotations

import hmac
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Form, Request

from app.api.dependencies import Ctx, logins_of
from app.api.http.request_log import note_caller
from app.errors import Forbidden, Unauthorized
from app.services.auth import Caller, require_admin, require_researcher
from app.services.login import COOKIE

FROM_ELSEWHERE = (
    "This form was not sent from a page of this Podium, or somebody logged in again since the page "
    "was opened, so nothing was done. Open the page again and send the form from there."
)
Token = Annotated[str, Form(max_length=200)]


def refuse_other_sites(request: Request) -> None:
    """Refuse a form from a page of another site. Browsers send the origin of a form.

    Raises:
        Forbidden: another site sent it.
    """
    site = request.headers.get("Sec-Fetch-Site", "same-origin")
    sender = request.headers.get("Origin")
    same = sender is None or _host_of(sender) == request.headers.get("Host", "")
    if site not in ("same-origin", "none") or not same:
        raise Forbidden(FROM_ELSEWHERE)


def _host_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc or None  # "null" has none
    except ValueError:  # such as "http://["
        return None


def login_behind_form(request: Request, context: Ctx) -> Caller:
    """The researcher or admin whose browser sent a form, by the cookie alone: see `require_token`.

    Raises:
        Unauthorized: nobody is logged in.
        Forbidden: the form is from elsewhere.
    """
    cookie = request.cookies.get(COOKIE, "")
    if not cookie:
        raise Unauthorized("Nobody is logged in here.")
    caller = logins_of(request).read(context, cookie)
    note_caller(request.scope, caller.key_id, caller.role.value)
    request.state.caller = caller
    refuse_other_sites(request)
    require_researcher(caller)
    return caller


def require_token(request: Request, token: str) -> None:
    """Check the token of a form, which only pages for this login have.

    Raises:
        Forbidden: it is another one.
    """
    own = logins_of(request).form_token(request.cookies.get(COOKIE, ""))
    if not hmac.compare_digest(own.encode(), token.encode(errors="replace")):
        raise Forbidden(FROM_ELSEWHERE)


def form_caller(request: Request, context: Ctx, token: Token = "") -> Caller:
    """The researcher or admin who sent a form, with the cookie of a login and the form's token.

    Raises:
        Unauthorized: nobody is logged in.
        Forbidden: the form is from elsewhere.
    """
    caller = login_behind_form(request, context)
    require_token(request, token)
    return caller


FormCaller = Annotated[Caller, Depends(form_caller)]


async def form_admin(caller: FormCaller) -> None:
    """Refuse a form of somebody who is not admin."""
    require_admin(caller)


ADMIN_FORM = Depends(form_admin)


def form_token(request: Request) -> str:
    """The token for the forms of a page; empty for a caller without a login."""
    cookie = request.cookies.get(COOKIE, "")
    return logins_of(request).form_token(cookie) if cookie else ""
