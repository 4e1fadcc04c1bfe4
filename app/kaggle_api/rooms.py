"""All routes of this door, in the order in which they are tried."""

from __future__ import annotations

from app.kaggle_api import (
    account,
    checker,
    competitions,
    files,
    leaderboard,
    submissions,
    unknown,
)

ROUTERS = tuple(
    room.router
    for room in (account, competitions, files, submissions, leaderboard, checker, unknown)
)
