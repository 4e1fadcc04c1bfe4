"""Calls of Kaggle's clients that Podium does not serve."""

from __future__ import annotations

from fastapi import Request

from app.errors import NotFound
from app.kaggle_api.route import COMPETITIONS, PREFIXES, kaggle_router

router = kaggle_router()
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
        router.add_api_route(f"{_prefix}/{_service}/{{rest:path}}", unknown, methods=METHODS)
router.add_api_route("/api/{rest:path}", unknown, methods=METHODS)
