"""Of equal regrades one runs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from app.domain.states import RegradeState
from app.errors import Conflict
from app.services.regrades.regrade_claims import RegradeClaims
from app.services.regrades.start import start
from app.services.runtime.context import Context
from app.storage.queries.regrades import members, outcomes, regrades
from tests.services.conftest import Meanwhile
from tests.services.regrades.make import graded, started, stored
from tests.services.submissions.conftest import readable_version
from tests.storage.make import World, add_run
from tests.storage.statements import sent_statements


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_of_two_equal_regrades_that_are_started_at_once_one_runs(
    servers: tuple[Context, Context], world: World, meanwhile: Meanwhile
) -> None:
    one, other = servers
    version = readable_version(one, "tiny")
    graded(replace(world, run=add_run(world.database, version, "third")))

    ended = meanwhile(regrades, "add", partial(start, other, "tiny", by=None))
    start(one, "tiny", by=None)
    with pytest.raises(Conflict, match="is the same, and is running"):
        ended()


def test_a_regrade_that_an_older_version_left_keeps_no_new_one_from_starting(
    context: Context, here: World
) -> None:
    version = readable_version(context, "tiny")
    graded(replace(here, run=add_run(context.database, version, "third")))
    left = started(context, competition="tiny", podium_version="0.0.1")

    new = start(context, "tiny", by=None)

    assert [each.regrade_id for each in RegradeClaims(context).claim(9, ()) or []] == [new.id]
    assert stored(context, left.id).state is RegradeState.CANCELLED


def test_all_submissions_are_looked_through_once_and_not_for_each_part(
    context: Context, here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 200,000 submissions a regrade took 42 writes of 2 s, and other writes waited."""
    monkeypatch.setattr(members, "FILLED_AT_ONCE", 2)
    monkeypatch.setattr(members, "LISTED_AT_ONCE", 4)
    run = add_run(context.database, readable_version(context, "tiny"), "third")
    sent = [graded(replace(here, run=run)).id for _ in range(9)]

    with sent_statements() as executed:
        new = start(context, "tiny", by=None)

    looking = [each for each in executed if "FROM submission JOIN run" in each]
    assert len(looking) == 1 + 3  # for the first part of 2, and lists of 4, 3 and none
    with context.database.read() as session:
        assert sorted(outcomes.queued(session, new.id, 99)) == sorted(sent)
