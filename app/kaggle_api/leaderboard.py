"""The leaderboard: the human one under `full` if its scores are known, else the run's line."""

from __future__ import annotations

import csv
import io
import zipfile
from datetime import UTC, datetime, time
from email.utils import format_datetime
from typing import Any

from fastapi import Response

from app.api.dependencies import Anyone, Ctx
from app.domain.wording import counted
from app.errors import NotFound
from app.kaggle_api.archive import EPOCH
from app.kaggle_api.deps import entry_for
from app.kaggle_api.fields import Body
from app.kaggle_api.route import COMPETITIONS, kaggle_router, rpc
from app.kaggle_api.serializers import number
from app.services.auth import Caller
from app.services.competitions import queries
from app.services.runtime.catalogue import CatalogueEntry
from app.services.runtime.context import Context
from app.services.submissions.run_submissions import newest_and_best
from app.storage.database.records import RunRecord

router = kaggle_router()
USUAL_PAGE = 20
HEADER = ["Rank", "TeamId", "TeamName", "LastSubmissionDate", "Score", "SubmissionCount",
          "TeamMemberUserNames"]  # fmt: skip
Line = tuple[int, str, datetime, str]  # team's number, its name, when, score


@rpc(router, COMPETITIONS, "GetLeaderboard")
def get_leaderboard(context: Ctx, caller: Anyone, fields: Body) -> dict[str, Any]:
    """A page of the leaderboard, best first."""
    entry, run = entry_for(context, caller, fields.slug())
    start, size = fields.page(USUAL_PAGE)
    lines = _lines(context, caller, entry, run)
    return {
        "submissions": [
            {"teamId": team, "teamName": name, "submissionDate": at.isoformat(), "score": score}
            for team, name, at, score in lines[start : start + size]
        ],
        "nextPageToken": str(start + size) if start + size < len(lines) else "",
    }


@rpc(router, COMPETITIONS, "DownloadLeaderboard")
def download_leaderboard(context: Ctx, caller: Anyone, fields: Body) -> Response:
    """The leaderboard as Kaggle packs it: one CSV in a zip."""
    entry, run = entry_for(context, caller, fields.slug())
    lines = _lines(context, caller, entry, run)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    better: dict[str, int] = {}  # teams with the same score share the first one's rank
    for place, (team, name, at, score) in enumerate(lines, start=1):
        rank = better.setdefault(score, place)
        writer.writerow([rank, team, name, f"{at:%Y-%m-%d %H:%M:%S}", score, "", ""])
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        part = "private" if queries.shows_medals(run) else "public"
        member = zipfile.ZipInfo(f"{entry.version.slug}-{part}leaderboard.csv", EPOCH)
        archive.writestr(member, "\ufeff" + text.getvalue())
    latest = max((at for _, _, at, _ in lines), default=entry.version.imported_at)
    return Response(
        packed.getvalue(),
        media_type="application/zip",
        headers={"Last-Modified": format_datetime(latest.astimezone(UTC), usegmt=True)},
    )


def _lines(
    context: Context, caller: Caller, entry: CatalogueEntry, run: RunRecord | None
) -> list[Line]:
    board = entry.leaderboard
    if run is not None and (not queries.shows_medals(run) or board is None or board.scores is None):
        return _own_line(context, caller, entry, run)
    if board is None:
        raise NotFound(f"{entry.version.slug} has no human leaderboard.")
    if board.scores is None:
        known = (("gold", board.lines.gold), ("silver", board.lines.silver),
                 ("bronze", board.lines.bronze))  # fmt: skip
        lines = ", ".join(f"{name} {line!r}" for name, line in known if line is not None)
        teams = f" of {counted(board.teams, 'team')}" if board.teams is not None else ""
        raise NotFound(
            f"Only the medal lines of {entry.version.slug}'s leaderboard{teams} are known: {lines}."
        )
    source = entry.competition.leaderboard
    captured = source.captured_at if source else None
    at = datetime.combine(captured, time(), UTC) if captured else entry.version.imported_at
    return [
        (place, f"team {place}", at, number(score))
        for place, score in enumerate(board.scores, start=1)
    ]


def _own_line(
    context: Context, caller: Caller, entry: CatalogueEntry, run: RunRecord
) -> list[Line]:
    """Only the run, with its best score: the private one under `full`, the public one if shown."""
    kind = "score" if queries.shows_medals(run) else "public_score"
    higher = entry.competition.metric.higher_is_better
    found = newest_and_best(context, caller, run, kind, higher_is_better=higher)
    return [] if found is None else [(1, run.id, found[0], number(found[1]))]
