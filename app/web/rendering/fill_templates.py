"""Fill templates. Every value is escaped; no text of a user becomes markup."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from http import HTTPStatus
from importlib import resources
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from app.pictures.outcomes import LETTERS, OUTCOMES
from app.services.auth import Caller
from app.web.page_data.formats import CSV, FORMAT, JSON, Facts, Rows, as_csv, as_json
from app.web.rendering.formats import FILTERS

# Pages have no inline styles and load nothing from other hosts. Pages that update themselves have
# the scripts of the package; the others have none.
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; {scripts}form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
LIVE = "script-src 'self'; connect-src 'self'; "
SCRIPTS = ("htmx-4.0.1.min.js", "hx-sse-4.0.1.min.js")  # static/vendor/README.md names the authors
# All scripts in one file: htmx starts without an extension that arrives after it.
LIVE_SCRIPT = "live.js"
STATIC_FILES = {
    "podium.css": "text/css",
    "icon.svg": "image/svg+xml",
    LIVE_SCRIPT: "text/javascript",
}


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The templates of the package, compiled when they are first used."""
    found = Environment(
        loader=PackageLoader("app.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= FILTERS
    found.globals |= {"outcomes": OUTCOMES, "letters": LETTERS}
    found.globals["static"] = {name: address_of(name) for name in STATIC_FILES}
    return found


def address_of(name: str) -> str:
    """The address of a static file; it changes with the file, so that browsers may keep it."""
    return f"/static/{name}?v={digest_of(name)}"


@lru_cache(maxsize=len(STATIC_FILES))
def static_bytes(name: str) -> bytes:
    """The content of a static file of the package."""
    folder = resources.files("app.web") / "static"
    if name == LIVE_SCRIPT:
        return b"\n;\n".join((folder / "vendor" / each).read_bytes() for each in SCRIPTS)
    return (folder / name).read_bytes()


@lru_cache(maxsize=len(STATIC_FILES))
def digest_of(name: str) -> str:
    """The part of a static file's address that changes with the file."""
    return hashlib.sha256(static_bytes(name)).hexdigest()[:12]


def asked_path(request: Request) -> str:
    """The requested path, still quoted, because a name in it may have a question mark."""
    raw: bytes = request.scope["raw_path"]
    return raw.decode("latin-1")


def page(
    request: Request,
    caller: Caller | None,
    template: str,
    *,
    title: str,
    api: str = "",
    status: int = 200,
    live: bool = False,
    table: Rows | None = None,
    facts: Facts | None = None,
    **values: Any,
) -> Response:
    """A page, or its table as CSV, or all of its facts as JSON.

    `api` is the address of the same subject in the API, `table` makes the rows of the page's table,
    and `facts` everything else on it. A `live` page may update itself.

    Raises:
        Invalid: the table or the facts were asked for, and the page has none.
    """
    if status == HTTPStatus.OK:
        form = request.query_params.get(FORMAT)
        if form == CSV:
            return as_csv(table)
        if form == JSON:
            return as_json(title, api, table, facts)

    path = asked_path(request)

    def link(**changes: object) -> str:
        """The address of this page with other parameters; None removes one."""
        kept = {name: value for name, value in request.query_params.items() if name not in changes}
        query = kept | {name: value for name, value in changes.items() if value is not None}
        return f"{path}?{urlencode(query)}" if query else path

    text = (
        environment()
        .get_template(template)
        .render(
            title=title, api=api, caller=caller, link=link, here=request.url.path, live=live,
            has_table=table is not None, has_facts=table is not None or facts is not None,
            **values,
        )
    )  # fmt: skip
    headers = {
        "Content-Security-Policy": POLICY.format(scripts=LIVE if live else ""),
        "Cache-Control": "no-store",
        "Referrer-Policy": "same-origin",
    }
    return HTMLResponse(text, status, headers)
