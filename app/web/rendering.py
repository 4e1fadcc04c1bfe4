"""Fill templates. Every value is escaped; no text of a user becomes markup."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from http import HTTPStatus
from importlib import resources
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from app.errors import Invalid
from app.reports.report import Row
from app.reports.tables import to_csv
from app.services.auth import Caller
from app.web.csv_twin import CSV, FORMAT
from app.web.formats import FILTERS

# Pages have no style of their own and ask no other host for anything. Those that change while
# somebody looks have the scripts of the package; the others have none.
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; {scripts}form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
LIVE = "script-src 'self'; connect-src 'self'; "
SCRIPTS = ("htmx-4.0.1.min.js", "hx-sse-4.0.1.min.js")  # static/vendor/README.md says whose
STATIC_FILES = {
    "podium.css": "text/css",
    "icon.svg": "image/svg+xml",
    **dict.fromkeys(SCRIPTS, "text/javascript"),
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
    found.globals["static"] = {name: address_of(name) for name in STATIC_FILES}
    found.globals["scripts"] = [address_of(name) for name in SCRIPTS]
    return found


def address_of(name: str) -> str:
    """The address of a static file; it changes with the file, so that browsers may keep it."""
    return f"/static/{name}?v={_digest(name)}"


@lru_cache(maxsize=len(STATIC_FILES))
def static_bytes(name: str) -> bytes:
    """The content of a static file of the package."""
    folder = resources.files("app.web") / "static"
    return (folder / "vendor" / name if name in SCRIPTS else folder / name).read_bytes()


@lru_cache(maxsize=len(STATIC_FILES))
def _digest(name: str) -> str:
    return hashlib.sha256(static_bytes(name)).hexdigest()[:12]


def page(
    request: Request,
    caller: Caller | None,
    template: str,
    *,
    title: str,
    twin: str = "",
    status: int = 200,
    live: bool = False,
    table: Callable[[], Sequence[Row]] | None = None,
    **values: Any,
) -> Response:
    """A page, or its table as CSV.

    `twin` is the address of the same facts as JSON, `table` makes the rows of the page's table. A
    `live` page may change itself.

    Raises:
        Invalid: the table was asked for, and the page has none.
    """
    if request.query_params.get(FORMAT) == CSV and status == HTTPStatus.OK:
        return _as_csv(table)

    # As it was asked for: a name in it may have a question mark.
    path = request.scope["raw_path"].decode("latin-1")

    def link(**changes: object) -> str:
        """The address of this page with other parameters; None removes one."""
        kept = {name: value for name, value in request.query_params.items() if name not in changes}
        query = kept | {name: value for name, value in changes.items() if value is not None}
        return f"{path}?{urlencode(query)}" if query else path

    text = (
        environment()
        .get_template(template)
        .render(
            title=title, twin=twin, caller=caller, link=link, here=request.url.path, live=live,
            has_table=table is not None,
            **values,
        )
    )  # fmt: skip
    headers = {
        "Content-Security-Policy": POLICY.format(scripts=LIVE if live else ""),
        "Cache-Control": "no-store",
        "Referrer-Policy": "same-origin",
    }
    return HTMLResponse(text, status, headers)


def _as_csv(table: Callable[[], Sequence[Row]] | None) -> Response:
    if table is None:
        raise Invalid("This page has no table here that could be given as CSV.")
    headers = {
        "Content-Disposition": 'attachment; filename="podium.csv"',
        "Cache-Control": "no-store",
    }
    return Response(to_csv(table()), media_type="text/csv", headers=headers)
