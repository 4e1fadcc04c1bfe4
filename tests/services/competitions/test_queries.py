"""What the key of a run sees of competitions, and what it is told of what is not there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.domain.feedback import Feedback
from app.domain.states import ArchivalKind, CompetitionStatus, Role
from app.errors import Forbidden, NeedsData, NotFound
from app.services.auth import Caller
from app.services.competitions import queries
from app.services.runtime.context import Context
from app.storage.database.records import VersionRecord
from tests.services.results.make import archive_it
from tests.services.submissions.conftest import TOML, readable_version
from tests.storage.make import add_run, add_version

RESEARCHER = Caller(Role.RESEARCHER, "key_1")
BOARD = "score\n1\n2\n3\n4\n"


@pytest.fixture
def bikes(context: Context) -> VersionRecord:
    return readable_version(context, "bikes", board=BOARD)


@pytest.fixture
def agent(context: Context, bikes: VersionRecord) -> Caller:
    """The key of a run at version 1 of `bikes`, of which there is a version 2."""
    run = add_run(context.database, bikes, "first")
    readable_version(context, "bikes", number=2, content_hash="2")
    readable_version(context, "leaves")
    return Caller(Role.RUN, "key_2", run_id=run.id)


def numbers(context: Context, caller: Caller, **over: object) -> tuple[list[object], str | None]:
    asked = {"suite": None, "tag": None, "q": None, "after": None, "limit": 9, **over}
    page, cursor = queries.page(context, caller, **asked)  # type: ignore[arg-type]
    return [(entry.version.slug, entry.version.number) for entry, _ in page], cursor


def test_a_run_sees_its_own_version_and_nothing_else(context: Context, agent: Caller) -> None:
    entry, run = queries.find(context, agent, "bikes")
    assert (entry.version.number, run and run.id) == (1, agent.run_id)
    assert numbers(context, agent) == ([("bikes", 1)], None)
    assert numbers(context, agent, after="bikes") == ([], None)
    for slug in ("leaves", "nowhere"):
        with pytest.raises(NotFound, match=f"no competition '{slug}' for this key"):
            queries.find(context, agent, slug)
    with pytest.raises(Forbidden):
        queries.leaderboard(context, agent, "bikes")


def test_a_researcher_reads_the_newest_versions_by_page(context: Context, agent: Caller) -> None:
    assert numbers(context, RESEARCHER, limit=1) == ([("bikes", 2)], "bikes")
    assert numbers(context, RESEARCHER, after="bikes", limit=1) == ([("leaves", 1)], None)
    entry, run = queries.find(context, RESEARCHER, "bikes")
    assert (entry.version.number, run) == (2, None)
    archive_it(context, ArchivalKind.COMPETITION, "bikes")
    assert numbers(context, RESEARCHER) == ([("leaves", 1)], None)
    assert numbers(context, RESEARCHER, archived=True)[0] == [("bikes", 2), ("leaves", 1)]


def test_a_score_is_placed_on_a_board_that_is_there(context: Context, bikes: VersionRecord) -> None:
    readable_version(context, "leaves")

    found = queries.standing(context, RESEARCHER, "bikes", 2.5)
    assert (found.better, found.equal, found.worse) == (2, 0, 2)
    with pytest.raises(NotFound, match="leaves has no human leaderboard"):
        queries.standing(context, RESEARCHER, "leaves", 2.5)
    with pytest.raises(NotFound, match="bikes has no description"):
        queries.description(context, RESEARCHER, "bikes")


def test_a_file_that_is_not_there_is_told_with_those_that_are(
    context: Context, bikes: VersionRecord
) -> None:
    readable_version(context, "empty", files=[], status=CompetitionStatus.NEEDS_DATA)
    readable_version(context, "bare", files=[])

    _, sha256 = queries.public_file(context, RESEARCHER, "bikes", "train.csv")
    assert sha256 == "ab" * 32
    with pytest.raises(NotFound, match=r"no public file 'x\.csv'\. Its files: train\.csv"):
        queries.public_file(context, RESEARCHER, "bikes", "x.csv")
    with pytest.raises(NotFound, match=r"bare has no public file 'x\.csv', nor any other\.$"):
        queries.public_file(context, RESEARCHER, "bare", "x.csv")
    with pytest.raises(NeedsData, match="empty has no files yet"):
        queries.public_file(context, RESEARCHER, "empty", "train.csv")


def test_a_version_that_cannot_be_used_does_not_hide_the_others(
    context: Context, bikes: VersionRecord
) -> None:
    refused = context.database.write(lambda s: add_version(s, "refused", toml="title = 1\n"))
    lost = context.database.write(lambda s: add_version(s, "lost", toml=TOML))

    found = queries.listed(context, [refused, lost, bikes])
    assert [(one.version.slug, one.version.status) for one in found] == [
        ("lost", CompetitionStatus.NEEDS_DATA), ("bikes", CompetitionStatus.READY),
    ]  # fmt: skip


def test_only_a_run_under_full_reads_medal_lines(context: Context, bikes: VersionRecord) -> None:
    run = add_run(context.database, bikes, "first")

    assert queries.shows_medals(None)
    shown = [each for each in Feedback if queries.shows_medals(replace(run, feedback=each))]
    assert shown == [Feedback.FULL]
