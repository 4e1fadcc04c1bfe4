"""Archiving hides and refuses, restoring undoes it, and both are logged."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from app.domain.feedback import Feedback
from app.domain.states import ArchivalKind
from app.errors import Conflict, Invalid, NotFound
from app.services.experiments.archiving import (
    archive,
    archived_of_competition,
    archived_of_experiments,
    archived_of_run,
    restore,
)
from app.services.experiments.create_run import NewRun, create
from app.services.runtime.context import Context, open_context
from app.settings import Settings
from app.storage.database.database import Database
from app.storage.queries import archive as archivals
from app.storage.queries.archive import ArchivalRecord
from app.storage.queries.trust import log
from tests.services.conftest import Meanwhile
from tests.storage.make import World, make_world


def names(here: World) -> dict[ArchivalKind, str]:
    return {
        ArchivalKind.RUN: here.run.id,
        ArchivalKind.EXPERIMENT: here.run.experiment,
        ArchivalKind.COMPETITION: here.run.competition,
    }


@pytest.mark.parametrize("kind", list(ArchivalKind))
def test_an_archived_part_is_restored_and_archived_again(
    context: Context, here: World, admin: str, kind: ArchivalKind
) -> None:
    name = names(here)[kind]
    archive(context, kind, name, "first", by=admin)
    with pytest.raises(Conflict):
        archive(context, kind, name, "again", by=None)

    (found,) = archived_of_run(context, here.run)
    assert (found.kind, found.name, found.reason, found.archived_by) == (
        kind, name, "first", admin,
    )  # fmt: skip
    assert archived_of_run(context, here.other_run) == []
    restore(context, kind, name, "a mistake", by=None)
    assert archived_of_run(context, here.run) == []
    with pytest.raises(Conflict, match="is not archived"):
        restore(context, kind, name, "a mistake", by=None)
    assert archive(context, kind, name, "second", by=None).reason == "second"
    with context.database.read() as session:
        logged = [json.loads(one.leaf)["kind"] for one in log.all_entries(session)]
    assert [kind for kind in logged if kind in ("archiving", "restoration")] == [
        "archiving", "restoration", "archiving",
    ]  # fmt: skip


def test_the_archived_parts_of_pages(context: Context, here: World) -> None:
    archive(context, ArchivalKind.COMPETITION, here.run.competition, "old", by=None)
    archive(context, ArchivalKind.EXPERIMENT, here.other_run.experiment, "wrong", by=None)

    def found(names: list[str]) -> set[str]:
        return {one.name for one in archived_of_experiments(context, names)}

    assert [one.name for one in archived_of_competition(context, "bikes")] == ["bikes"]
    assert archived_of_competition(context, "leaves") == []
    assert found(["first"]) == {"bikes"}  # the competition of its run
    assert found(["second"]) == {"second"}
    assert found(["first", "second"]) == {"bikes", "second"}


@pytest.mark.parametrize("kind", list(ArchivalKind))
def test_unknown_names_and_blank_reasons_are_refused(
    context: Context, here: World, kind: ArchivalKind
) -> None:
    for act in (archive, restore):
        with pytest.raises(NotFound):
            act(context, kind, "nothing", "a reason", by=None)
        with pytest.raises(Invalid, match="reason"):
            act(context, kind, names(here)[kind], "  ", by=None)


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_of_two_archivings_at_once_the_second_is_refused(database_url: str, tmp_path: Path) -> None:
    """It waited for the log after it had looked, and overwrote the reason of the first."""
    settings = Settings(data_dir=tmp_path / "data", database_url=database_url)
    context = open_context(settings, grades=False, validates=False)
    other = Database(database_url)
    run = make_world(other).run.id
    begun, may_end = threading.Event(), threading.Event()

    def first(session: Session) -> None:
        log.lock(session)
        begun.set()
        assert may_end.wait(30)
        record = ArchivalRecord(
            kind=ArchivalKind.RUN, name=run, archived_at=datetime.now(UTC), reason="first"
        )
        archivals.archive(session, record)

    with ThreadPoolExecutor(2) as threads:
        one = threads.submit(other.write, first)
        assert begun.wait(30)
        two = threads.submit(archive, context, ArchivalKind.RUN, run, "second", by=None)
        while not count_waiting(other):
            time.sleep(0.01)
        may_end.set()
        one.result(30)
        with pytest.raises(Conflict):
            two.result(30)
    context.close()
    other.close()


@pytest.mark.parametrize("database_kind", ["postgresql"])
@pytest.mark.parametrize("kind", [ArchivalKind.EXPERIMENT, ArchivalKind.COMPETITION])
def test_a_run_that_waits_for_an_archiving_is_refused(
    servers: tuple[Context, Context], meanwhile: Meanwhile, kind: ArchivalKind
) -> None:
    """It was made after its experiment or competition was archived, by the times of both."""
    one, other = servers
    new = NewRun("first", "bikes", 77, Feedback.NONE, {})
    ended = meanwhile(archivals, "archive", lambda: create(other, new))
    archive(one, kind, "first" if kind is ArchivalKind.EXPERIMENT else "bikes", "over", by=None)
    with pytest.raises(Conflict, match="archived"):
        ended()


def count_waiting(database: Database) -> int:
    with database.read() as session:
        return session.scalar(text("SELECT count(*) FROM pg_locks WHERE NOT granted")) or 0
