"""The style sheet and the icon, from the package."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.errors import NotFound
from app.web.rendering.fill_templates import STATIC_FILES, digest_of, static_bytes

router = APIRouter(include_in_schema=False)
KEEP = "public, max-age=31536000, immutable"  # its address changes with the file


@router.get("/static/{name}")
def static_file(
    name: str, v: Annotated[str, Query(max_length=64, description="the file's digest")] = ""
) -> Response:
    """A file that pages need."""
    if name not in STATIC_FILES:
        raise NotFound(f"There is no file {name[:100]!r}.")
    # The page may be from another version of Podium, if its server was replaced before this one.
    headers = {"Cache-Control": KEEP if v == digest_of(name) else "no-cache"}
    return Response(static_bytes(name), media_type=STATIC_FILES[name], headers=headers)


@router.get("/favicon.ico")
def icon() -> Response:
    """The icon, at the address that browsers request by themselves."""
    return static_file("icon.svg")
