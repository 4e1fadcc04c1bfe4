"""Read competitions. An agent sees only its run's competition, in its run's version."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from app.domain.competition import parse_competition
from app.domain.leaderboard import Leaderboard, Standing
from app.domain.states import CompetitionStatus
from app.errors import BadCompetition, DamagedFile, NeedsData, NotFound
from app.services.auth import Caller, require_researcher
from app.services.runtime.catalogue import CatalogueEntry
from app.services.runtime.context import Context
from app.services.runtime.pages import one_more, page_of
from app.storage.database.records import RunRecord, VersionRecord
from app.storage.queries import competitions, runs

log = logging.getLogger("podium.storage")
SAMPLE = "sample_submission.csv"


def find(context: Context, caller: Caller, slug: str) -> tuple[CatalogueEntry, RunRecord | None]:
    """The competition's current version; for a run's key, the version of its run.

    Raises:
        NotFound: the competition does not exist, or is not this run's.
    """
    with context.database.read() as session:
        run = runs.get_run(session, caller.run_id) if caller.run_id else None
        if caller.is_run and (run is None or run.competition != slug):
            raise _no_competition(slug)
        found = competitions.current_id(session, slug) if run is None else run.version_id
    if found is None:
        raise _no_competition(slug)
    return context.catalogue.of_version(found), run


def current(context: Context, slug: str) -> CatalogueEntry | None:
    """The current version of a competition, for commands. None if it is not imported."""
    with context.database.read() as session:
        found = competitions.current_id(session, slug)
    return None if found is None else context.catalogue.of_version(found)


def current_versions(
    context: Context, slugs: Sequence[str] | None, *, archived: bool = False
) -> list[VersionRecord]:
    """The current versions of the imported competitions among these, or of all, by slug.

    Archived competitions are there only with `archived`.
    """
    with context.database.read() as session:
        return competitions.list_current(session, slugs=slugs, archived=archived, limit=None)


def versions(context: Context, slug: str) -> list[VersionRecord]:
    """All versions of a competition, the newest first."""
    with context.database.read() as session:
        return competitions.versions_of(session, slug)


def page(
    context: Context,
    caller: Caller,
    *,
    suite: str | None,
    tag: str | None,
    q: str | None,
    archived: bool = False,
    after: str | None,
    limit: int,
) -> tuple[list[tuple[CatalogueEntry, RunRecord | None]], str | None]:
    """A page of competitions by slug, at most `limit` after the slug `after`; the next cursor.

    Archived competitions are included only with `archived`. For a run's key, `suite` and `tag` are
    ignored, because an agent must not learn whether its competition has them.
    """
    if caller.is_run:
        with context.database.read() as session:
            run = runs.get_run(session, caller.run_id or "")
        if run is None or after:
            return [], None
        entry, run = find(context, caller, run.competition)
        named = q is None or competitions.is_named(entry.version, q)
        return ([(entry, run)] if named else []), None
    slugs = None if suite is None else context.catalogue.suite(suite)
    with context.database.read() as session:
        found = competitions.list_current(
            session,
            q=q,
            tag=tag,
            slugs=slugs,
            archived=archived,
            after=after,
            limit=one_more(limit),
        )
    shown, cursor = page_of(found, limit, lambda one: one.slug)
    return [(entry, None) for entry in listed(context, shown)], cursor


def listed(context: Context, versions: Sequence[VersionRecord]) -> list[CatalogueEntry]:
    """The versions for a list. A version that cannot be read does not make the list fail.

    A version whose files are missing or damaged here has the status `needs_data`. One whose
    competition.toml this Podium refuses is left out. Both are logged.
    """
    entries = []
    for version in versions:
        try:
            entries.append(_listed(context, version))
        except BadCompetition as error:
            log.error("a competition's stored version is refused",  # noqa: TRY400 (it says enough)
                      extra={"slug": version.slug, "problems": error.problems})  # fmt: skip
    return entries


def _listed(context: Context, version: VersionRecord) -> CatalogueEntry:
    try:
        return context.catalogue.entry(version)
    except DamagedFile as error:
        log.error("a competition's files are missing or damaged",  # noqa: TRY400 (it says enough)
                  extra={"slug": version.slug, "reason": error.detail})  # fmt: skip
        needy = replace(version, status=CompetitionStatus.NEEDS_DATA)
        return CatalogueEntry(needy, parse_competition(version.slug, version.toml), None, None)


def suites_of(context: Context, slug: str) -> list[str]:
    """The names of the suites that contain the competition."""
    return sorted(name for name, slugs in context.catalogue.suites().items() if slug in slugs)


def shows_medals(run: RunRecord | None) -> bool:
    """Whether the caller may see medal thresholds: researchers, and runs with the policy `full`."""
    return run is None or run.feedback.shows_everything


def public_file(
    context: Context, caller: Caller, slug: str, name: str
) -> tuple[CatalogueEntry, str]:
    """The version that has a public file of this name, and the file's sha256.

    Raises:
        NotFound: the competition has no such file.
        NeedsData: the competition's files were never imported.
    """
    entry, _ = find(context, caller, slug)
    files = context.catalogue.public_files.of(entry.version.id)
    found = files.find(name)
    if found is not None:
        return entry, found["sha256"]
    if entry.version.status == CompetitionStatus.NEEDS_DATA:
        raise NeedsData(f"{slug} has no files yet: an admin has to import its data.")
    names = ", ".join(file["name"] for file in files[:10])
    others = f". Its files: {names}." if names else ", nor any other."
    raise NotFound(f"{slug} has no public file {name!r}{others}")


def description(context: Context, caller: Caller, slug: str) -> str:
    """The description of the task for the agent.

    Raises:
        NotFound: the competition has no description.
    """
    entry, _ = find(context, caller, slug)
    if entry.description is None:
        raise NotFound(f"{slug} has no description.")
    return entry.description


def leaderboard(context: Context, caller: Caller, slug: str) -> tuple[CatalogueEntry, Leaderboard]:
    """The human leaderboard, for researchers.

    Raises:
        NotFound: the competition has no leaderboard.
    """
    require_researcher(caller)
    entry, _ = find(context, caller, slug)
    if entry.leaderboard is None:
        raise NotFound(f"{slug} has no human leaderboard.")
    return entry, entry.leaderboard


def standing(context: Context, caller: Caller, slug: str, score: float) -> Standing:
    """The place that a score would have among the human teams. Nothing is submitted."""
    _, board = leaderboard(context, caller, slug)
    return board.standing(score)


def _no_competition(slug: str) -> NotFound:
    return NotFound(f"There is no competition {slug!r} for this key.")
