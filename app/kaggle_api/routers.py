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
)

ROUTERS = tuple(
    room.router
    for room in (account, competitions, files, submissions, leaderboard, rest, checker, fallback)
)
