"""Archiving hides and refuses, restoring undoes it, and both are logged."""

from __future__ import annotations

import json

import pytest

from app.domain.states import ArchivalKind
from app.errors import Conflict, Invalid, NotFound
from app.services.experiments.archiving import (
    archive,
    archived_of_competition,
    archived_of_experiments,
    archived_of_run,
    restore,
)
from app.services.runtime.context import Context
from app.storage.queries.trust import log
from tests.storage.make import World


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
