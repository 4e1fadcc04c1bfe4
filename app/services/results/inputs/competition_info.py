"""The properties of competitions that results use: groups, flags and human leaderboards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.domain.wording import first_few
from app.errors import Conflict
from app.services.runtime.context import Context
from app.storage.queries import competitions

SHOWN_COMPETITIONS = 10  # in an error text
COMPLEXITIES = ("low", "medium", "high")


class LeaderboardsMissing(Conflict):
    """Some competitions have no human leaderboard, so nobody can win a medal there.

    Carries `no_leaderboard`: a list of slugs.
    """


@dataclass(frozen=True, slots=True)
class CompetitionInfo:
    """A competition's present properties, for groups and footnotes.

    `has_board` is None for a competition that was not imported. `boardless` are all its versions
    without a board, including earlier ones.
    """

    complexity: str | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    flags: tuple[tuple[str, str], ...] = ()
    has_board: bool | None = None
    boardless: frozenset[int] = frozenset()


def refuse_without_board(infos: Mapping[str, CompetitionInfo], graded_by: set[int]) -> None:
    """Refuse to count medals at competitions, or by versions, without a human leaderboard.

    Raises:
        LeaderboardsMissing: a competition has none, or a version of it in `graded_by` had none.
    """
    without = sorted(slug for slug, info in infos.items() if info.has_board is False)
    before = sorted(slug for slug, info in infos.items() if info.boardless & graded_by)
    if before and not without:
        raise LeaderboardsMissing(
            f"Results at {first_few(before, SHOWN_COMPETITIONS)} are of a version without a human "
            "leaderboard, by which no medal could be won, and none is counted as not won. Regrade "
            "it by its present version, which has one (`podium regrade SLUG --to VERSION`).",
            no_leaderboard=before,
        )
    if without:
        raise LeaderboardsMissing(
            f"There is no human leaderboard of {first_few(without, SHOWN_COMPETITIONS)}, so no "
            "medal can be won there, and none is counted as not won. Ask for a suite without "
            "them, or for success-rates, which compare with a baseline.",
            no_leaderboard=without,
        )


def competition_info(
    context: Context, slugs: set[str], as_of: datetime | None = None
) -> dict[str, CompetitionInfo]:
    """Each competition's properties, now or at the time `as_of`.

    The suites give the complexity of those not imported.
    """
    with context.database.read() as session:
        versions = competitions.list_current(session, slugs=slugs, limit=len(slugs), as_of=as_of)
        boardless = competitions.versions_without_board(session, slugs)
    documents: dict[str, dict[str, Any]] = {each.slug: each.document for each in versions}
    boards = {each.slug: each.leaderboard is not None for each in versions}
    suites = context.catalogue.suites()
    by_suite = {
        slug: level for level in COMPLEXITIES for slug in suites.get(f"mle-bench-{level}", ())
    }
    found = {}
    for slug in slugs:
        document = documents.get(slug, {})
        flags = tuple((flag["code"], flag["note"]) for flag in document.get("flags") or ())
        found[slug] = CompetitionInfo(
            complexity=document.get("complexity") or by_suite.get(slug),
            category=document.get("category"),
            tags=tuple(document.get("tags") or ()),
            flags=flags,
            has_board=boards.get(slug),
            boardless=frozenset(boardless.get(slug, ())),
        )
    return found
