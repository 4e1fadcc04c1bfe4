"""Competitions in the form of Kaggle's clients."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from app.api.dependencies import Anyone, Ctx
from app.domain.states import RunState
from app.kaggle_api.deps import entry_for
from app.kaggle_api.fields import Body
from app.kaggle_api.pages import pages_of
from app.kaggle_api.route import COMPETITIONS, kaggle_router, rpc
from app.services.competitions import queries
from app.services.runtime.catalogue import CatalogueEntry
from app.storage.database.records import RunRecord

router = kaggle_router()
USUAL_PAGE = 20
MAX_COMPETITIONS = 10_000
# All competitions on Kaggle have a deadline, and agents compare it with the present time.
NO_DEADLINE = datetime(2999, 12, 31, tzinfo=UTC)


@rpc(router, COMPETITIONS, "ListCompetitions")
def list_competitions(context: Ctx, caller: Anyone, fields: Body) -> dict[str, Any]:
    """Competitions by slug: a run's key sees its own. Kaggle's groups and orders are ignored."""
    start, size = fields.page(USUAL_PAGE)
    found, _ = queries.page(
        context, caller, suite=None, tag=None, q=fields.text("search") or None, after=None,
        limit=MAX_COMPETITIONS,
    )  # fmt: skip
    shown = [_competition(entry, run) for entry, run in found[start : start + size]]
    more = start + size < len(found)
    return {"competitions": shown, "nextPageToken": str(start + size) if more else ""}


@rpc(router, COMPETITIONS, "GetCompetition")
def get_competition(context: Ctx, caller: Anyone, fields: Body) -> dict[str, Any]:
    """One competition."""
    return _competition(*entry_for(context, caller, fields.slug()))


@rpc(router, COMPETITIONS, "ListCompetitionPages")
def list_pages(context: Ctx, caller: Anyone, fields: Body) -> dict[str, Any]:
    """The task, how it is graded, the rules of this service, and the files."""
    entry, run = entry_for(context, caller, fields.slug())
    wanted = fields.text("pageName")
    return {
        "pages": [
            {"name": name, "content": content, "mimeType": "text/markdown", "isPublished": True}
            for name, content in pages_of(
                entry, run, context.catalogue.public_files.of(entry.version.id)
            ).items()
            if not wanted or name.casefold() == wanted.casefold()
        ]
    }


def _competition(entry: CatalogueEntry, run: RunRecord | None) -> dict[str, Any]:
    declared, version = entry.competition, entry.version
    board = entry.leaderboard if queries.shows_medals(run) else None
    limits = (run.limits if run else None) or {}
    hours = limits.get("hours")
    started = run.started_at if run else None
    deadline = started + timedelta(hours=hours) if started and hours is not None else NO_DEADLINE
    return {
        "id": version.id,
        "ref": version.slug,
        "title": declared.title,
        "url": version.slug,
        "description": "",
        "category": declared.category or "",
        "reward": "",
        # They are for readers of results: see `app.api.serializers.competition`.
        "tags": [] if run else [{"ref": tag, "name": tag} for tag in declared.tags],
        "deadline": deadline.isoformat(),
        "enabledDate": version.imported_at.isoformat(),
        "teamCount": (board.teams or 0) if board else 0,
        "userHasEntered": True,  # there are no rules to accept
        "userRank": 0,
        "maxDailySubmissions": limits.get("submissions_per_day") or 0,
        "maxTeamSize": 1,
        "evaluationMetric": declared.metric.name,
        "submissionsDisabled": run is not None and run.state == RunState.CLOSED,
        "awardsPoints": False,
        "isKernelsSubmissionsOnly": False,
    }
