"""Suites: named lists of competitions, and which of them this Podium can grade."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from app.domain.states import CompetitionStatus
from app.domain.suites import SUITES_TOML, parse_suites
from app.errors import NotFound
from app.services.runtime.catalogue import suites_text
from app.services.runtime.context import Context
from app.services.runtime.pages import page_of
from app.storage.queries import competitions

MemberStatus = Literal["ready", "needs_data", "not_imported"]


@dataclass(frozen=True, slots=True)
class Member:
    """A competition of a suite."""

    slug: str
    status: MemberStatus


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite with its competitions, by slug."""

    name: str
    competitions: list[Member]


def page(context: Context, after: str | None, limit: int | None) -> tuple[list[Suite], str | None]:
    """Suites of `suites.toml` by name, those after `after`, and the cursor of the next page."""
    declared = context.catalogue.suites()
    names = [name for name in sorted(declared) if after is None or name > after]
    found, following = page_of(names, limit, str)
    return [_suite(context, name, declared[name]) for name in found], following


def find(context: Context, name: str) -> Suite:
    """One suite.

    Raises:
        NotFound: no suite has this name.
    """
    return _suite(context, name, context.catalogue.suite(name))


def declared(root: Path, name: str) -> list[str]:
    """The competitions of a suite that `suites.toml` in `root` declares; no database is asked.

    Raises:
        NotFound: no suite has this name.
        BadCompetition: the file is not valid.
    """
    suites = parse_suites(suites_text(root / SUITES_TOML))
    if name not in suites:
        raise NotFound(
            f"There is no suite {name!r}. Suites here: {', '.join(sorted(suites)) or 'none'}."
        )
    return list(suites[name])


def _suite(context: Context, name: str, slugs: tuple[str, ...]) -> Suite:
    with context.database.read() as session:
        found = competitions.list_current(session, slugs=slugs, limit=len(slugs))
    known: dict[str, MemberStatus] = {
        one.slug: "ready" if one.status == CompetitionStatus.READY else "needs_data"
        for one in found
    }
    return Suite(name, [Member(slug, known.get(slug, "not_imported")) for slug in sorted(slugs)])
