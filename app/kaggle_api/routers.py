"""All routers of the Kaggle routes, in the order in which they are tried."""

from __future__ import annotations

from app.kaggle_api import (
    account,
    checker,
    competitions,
    fallback,
    files,
    leaderboard,
    rest,
    submissions,
    uploads,
)

ROUTERS = (
    account.router,
    competitions.router,
    files.router,
    uploads.router,
    submissions.router,
    leaderboard.router,
    rest.router,
    checker.router,
    fallback.router,
)
