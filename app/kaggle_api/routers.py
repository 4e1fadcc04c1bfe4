"""All routers of the Kaggle routes, in the order in which they are tried, and the last one."""

from __future__ import annotations

from fastapi import Request

from app.errors import NotFound
from app.kaggle_api import (
    account,
    checker,
    competitions,
    files,
    leaderboard,
    rest,
    submissions,
    uploads,
)
from app.kaggle_api.route import COMPETITIONS, PREFIXES, kaggle_router

fallback = kaggle_router()  # the last one: calls that Podium does not serve
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


async def unknown(request: Request) -> None:
    """Answer 404 with the commands that are supported."""
    raise NotFound(
        f"Podium does not serve {request.method} {request.url.path[:200]}. It supports Kaggle's "
        "commands `competitions` list, files, download, submit, submissions and leaderboard, and "
        "from newer clients pages, submission, submission-download and submission-limits."
    )


for _service in (COMPETITIONS, "security.OAuthService", "api.v1.DiagnosticsService",
                 "blobs.BlobApiService"):  # fmt: skip
    for _prefix in PREFIXES:
        fallback.add_api_route(f"{_prefix}/{_service}/{{rest:path}}", unknown, methods=METHODS)
fallback.add_api_route("/api/{rest:path}", unknown, methods=METHODS)

ROUTERS = (
    account.router,
    competitions.router,
    files.router,
    uploads.router,
    submissions.router,
    leaderboard.router,
    rest.router,
    checker.router,
    fallback,
)
