"""Who makes which runs, and when a run of a seed cannot be made."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from app.domain.feedback import Feedback
from app.domain.states import ArchivalKind, CompetitionStatus, Role, RunState
from app.errors import Conflict, Forbidden, Invalid, NeedsData, NotFound
from app.services.auth import Caller, authenticate
from app.services.experiments.archiving import archive
from app.services.experiments.create_run import (
    NewRun,
    create,
    create_as,
    experiment_of,
    find_or_create,
)
from app.services.runtime.context import Context
from app.storage.queries import keys, runs
from app.storage.queries.elsewhere import imported_grades
from app.storage.queries.elsewhere.imported_grades import ImportedGradeRecord
from tests.services.conftest import Meanwhile
from tests.storage.make import NOON, World, add_version

HARNESS = Caller(Role.HARNESS, "k", experiment="first")
RESEARCHER = Caller(Role.RESEARCHER, "k")


def new(seed: int = 5, **over) -> NewRun:
    fields = {
        "experiment": "first", "competition": "bikes", "seed": seed,
        "feedback": Feedback.PUBLIC, "limits": {"hours": 2.0},
    }  # fmt: skip
    return NewRun(**{**fields, **over})


def test_a_run_is_made_at_the_current_version_with_a_key_of_its_own(
    context: Context, here: World
) -> None:
    version = context.database.write(lambda s: add_version(s, "bikes", number=2))

    run, key = create(context, new())

    assert (run.version_id, run.state, run.started_at) == (version.id, RunState.OPEN, None)
    assert (run.feedback, run.limits) == (Feedback.PUBLIC, {"hours": 2.0})
    with context.database.read() as session:
        assert authenticate(session, key).run_id == run.id


def import_result(context: Context, seed: int) -> None:
    result = ImportedGradeRecord(
        experiment="first", competition="bikes", seed=seed, made=True, valid=False, score=None,
        medal=None, above_median=False, source="", document={}, imported_at=NOON,
    )  # fmt: skip
    context.database.write(lambda session: imported_grades.add(session, [result]))


def test_a_seed_has_one_run_or_imported_result(context: Context, here: World) -> None:
    with pytest.raises(Conflict, match="has a run of seed 1") as refused:
        create(context, new(seed=1))
    assert refused.value.extensions["run"] == here.run.id
    import_result(context, seed=5)
    with pytest.raises(Conflict, match="has an imported result of seed 5"):
        create(context, new(seed=5))
    create(context, new(seed=5, competition="leaves"))
    create(context, new(seed=6))


def test_what_must_be_there_before_a_run(context: Context, here: World) -> None:
    context.database.write(lambda s: add_version(s, "empty", status=CompetitionStatus.NEEDS_DATA))
    for over, error in (
        ({"experiment": "nobody"}, NotFound),
        ({"competition": "nowhere"}, NotFound),
        ({"competition": "empty"}, NeedsData),
    ):
        with pytest.raises(error):
            create(context, new(**over))
    archive(context, ArchivalKind.COMPETITION, "leaves", "old", by=None)
    archive(context, ArchivalKind.EXPERIMENT, "second", "old", by=None)
    for over in ({"competition": "leaves"}, {"experiment": "second"}):
        with pytest.raises(Conflict, match="archived"):
            create(context, new(**over))
    with context.database.read() as session:
        assert len(runs.list_runs(session, archived=True, limit=None)) == 2  # those of `here`


def test_a_harness_makes_runs_of_its_experiment_that_do_not_read_the_leaderboard(
    context: Context, here: World
) -> None:
    create_as(context, HARNESS, new())
    with pytest.raises(NotFound):
        create_as(context, HARNESS, new(experiment="second"))
    with pytest.raises(Forbidden, match="full"):
        create_as(context, HARNESS, new(seed=6, feedback=Feedback.FULL))
    create_as(context, RESEARCHER, new(seed=6, feedback=Feedback.FULL))


def test_many_requests_for_a_run_get_the_same_one(context: Context, here: World) -> None:
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: find_or_create(context, HARNESS, new()).id, range(16)))
    assert len(set(found)) == 1

    known = find_or_create(context, HARNESS, new(feedback=Feedback.NONE, limits={}))
    assert (known.id, known.feedback, known.limits) == (found[0], Feedback.PUBLIC, {"hours": 2.0})
    archive(context, ArchivalKind.RUN, known.id, "wrong", by=None)
    with pytest.raises(Conflict, match="archived"):
        find_or_create(context, HARNESS, new())


def test_a_run_that_is_there_is_found_by_who_may_make_it(context: Context, here: World) -> None:
    """The key of another experiment's harness does not learn that there is a run."""
    others = Caller(Role.HARNESS, "k", experiment="third")
    with pytest.raises(NotFound, match="There is no experiment 'first' for this key"):
        find_or_create(context, others, new(seed=1))
    assert find_or_create(context, HARNESS, new(seed=1)).id == here.run.id
    import_result(context, seed=5)
    with pytest.raises(Conflict, match="has an imported result of seed 5"):
        find_or_create(context, HARNESS, new(seed=5))
    archive(context, ArchivalKind.COMPETITION, "bikes", "old", by=None)
    with pytest.raises(Conflict, match="archived"):
        find_or_create(context, HARNESS, new(seed=1))


def test_the_experiment_of_a_request() -> None:
    assert experiment_of(HARNESS, None) == "first"
    assert experiment_of(HARNESS, "second") == "second"
    with pytest.raises(Invalid, match="experiment"):
        experiment_of(RESEARCHER, None)


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_a_run_that_two_servers_make_at_once_is_one(
    servers: tuple[Context, Context], meanwhile: Meanwhile
) -> None:
    """The second was an internal error: the run of its seed was there when it was stored."""
    one, other = servers
    ended = meanwhile(keys, "add_key", lambda: find_or_create(other, RESEARCHER, new()))
    assert find_or_create(one, RESEARCHER, new()) == ended()
