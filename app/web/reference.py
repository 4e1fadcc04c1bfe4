"""/docs: the API reference in a browser, with a local Swagger UI, so no other host is asked."""

from __future__ import annotations

import functools
from importlib import resources

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse

from app.errors import NotFound

router = APIRouter(include_in_schema=False)
FILES = {"swagger-ui-bundle.js": "text/javascript", "swagger-ui.css": "text/css"}
START = """\
SwaggerUIBundle({
  url: "/openapi.json", dom_id: "#reference", deepLinking: true,
  filter: true, validatorUrl: null,
});
"""
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Podium: API reference</title>
<link rel="icon" href="/favicon.ico">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<noscript>This needs scripts; <a href="/openapi.json">/openapi.json</a> does not.</noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
"""
# Swagger UI writes style attributes and has its icons in data: addresses. "Try it out" asks this
# server only. The page gets no key: whoever tries a request types one in.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'"
)


@router.get("/docs")
def reference() -> HTMLResponse:
    """The reference."""
    return HTMLResponse(PAGE, headers={"Content-Security-Policy": POLICY})


@router.get("/docs/{name}")
def reference_file(name: str) -> Response:
    """A file of the reference."""
    if name == "start.js":
        return Response(START, media_type="text/javascript")
    if name not in FILES:
        raise NotFound(f"There is no file {name[:100]!r}.")
    headers = {"Cache-Control": "public, max-age=86400"}
    return Response(_content(name), media_type=FILES[name], headers=headers)


@functools.cache
def _content(name: str) -> bytes:
    """The bytes of a file: the same for all answers, because many may be unread at once."""
    return (resources.files("fastapi_offline") / "static" / name).read_bytes()
