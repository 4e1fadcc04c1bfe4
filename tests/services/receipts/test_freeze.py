"""A freeze signs a plan before the first run, and what is not as planned is listed afterwards."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from app.domain.feedback import Feedback
from app.domain.result_choices import Padding
from app.domain.states import ArchivalKind
from app.errors import Invalid, NotFound
from app.services.experiments.amendments import amend
from app.services.experiments.create_run import NewRun, create
from app.services.public_log.freezes import freezes_of
from app.services.receipts.freeze import (
    AlreadyFrozen,
    ExperimentStarted,
    NewFreeze,
    freeze,
    frozen,
)
from app.services.runtime.catalogue import Catalogue
from app.services.runtime.context import Context
from app.storage.queries import archive, experiments, runs
from app.storage.queries.archive import ArchivalRecord
from app.storage.queries.elsewhere import imported_grades, imported_runs
from app.storage.queries.elsewhere.imported_grades import ImportedGradeRecord
from app.storage.queries.elsewhere.imported_runs import ImportedRunRecord
from app.storage.queries.trust import log
from tests.services.conftest import Meanwhile
from tests.storage.make import NOON, World, make_experiment

PLAN = NewFreeze(
    suite=None, competitions=("leaves", "bikes", "bikes"), seeds=(2, 1, 2),
    feedback=Feedback.VALIDITY, selection="last", padding=Padding.FAIL, limits={"hours": 24.0},
)  # fmt: skip


@pytest.fixture
def planned(context: Context, here: World) -> str:
    """An experiment without runs, at a database with two competitions."""
    context.database.write(lambda session: experiments.add(session, make_experiment("planned")))
    return "planned"


def departures(context: Context, name: str) -> list[str]:
    found = frozen(context, name)
    assert found is not None
    return sorted(one["code"] for one in found.departures)


def run(context: Context, name: str, competition: str, seed: int, **over: Any) -> None:
    fields = {"feedback": PLAN.feedback, "limits": PLAN.limits, **over}
    create(context, NewRun(name, competition, seed, **fields))


def test_the_same_plan_again_is_the_same_receipt(context: Context, planned: str) -> None:
    first, is_new = freeze(context, planned, PLAN)
    sorted_plan = replace(PLAN, competitions=("bikes", "leaves"), seeds=(1, 2))

    assert is_new
    assert freeze(context, planned, sorted_plan) == (first, False)
    with pytest.raises(AlreadyFrozen, match=first.id):
        freeze(context, planned, replace(PLAN, seeds=(1,)))


def test_an_experiment_that_has_begun_is_not_frozen(
    context: Context, here: World, planned: str
) -> None:
    with pytest.raises(ExperimentStarted, match=here.run.id):
        freeze(context, here.run.experiment, PLAN)
    result = ImportedGradeRecord(
        experiment=planned, competition="bikes", seed=1, made=True, valid=False, score=None,
        medal=None, above_median=False, source="", document={}, imported_at=NOON,
    )  # fmt: skip
    context.database.write(lambda session: imported_grades.add(session, [result]))
    with pytest.raises(ExperimentStarted, match="imported results"):
        freeze(context, planned, PLAN)


@pytest.mark.parametrize(
    ("over", "error"),
    [
        ({"competitions": ()}, Invalid),
        ({"suite": "mle-bench-low"}, Invalid),
        ({"competitions": ("bikes", "nowhere")}, NotFound),
        ({"competitions": (), "suite": "no-suite"}, NotFound),
    ],
)
def test_a_plan_names_a_suite_or_competitions_that_exist(
    context: Context, planned: str, over: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        freeze(context, planned, replace(PLAN, **over))
    assert frozen(context, planned) is None


def test_an_experiment_that_went_as_planned_has_no_departures(
    context: Context, planned: str
) -> None:
    freeze(context, planned, PLAN)
    assert departures(context, planned) == ["missing_run"] * 4

    for competition in ("bikes", "leaves"):
        for seed in (1, 2):
            run(context, planned, competition, seed)

    assert departures(context, planned) == []


def test_what_is_not_as_planned_is_listed(context: Context, planned: str) -> None:
    freeze(context, planned, replace(PLAN, competitions=("bikes",), seeds=(1,)))
    run(context, planned, "bikes", 1, feedback=Feedback.PUBLIC, limits={})
    run(context, planned, "leaves", 9)
    amend(context, planned, {"model": "another"}, reason="a mistake", by=None)

    assert departures(context, planned) == [
        "competition", "limits", "model_amended", "policy", "seed",
    ]  # fmt: skip


def test_a_suite_with_other_competitions_than_were_planned_is_listed(
    context: Context, planned: str, tmp_path: Path
) -> None:
    file = tmp_path / "suites.toml"
    catalogue = Catalogue(context.catalogue.files, tmp_path, context.database)
    context = replace(context, catalogue=catalogue)
    file.write_text('[suites.small]\ntitle = "S"\ncompetitions = ["bikes"]\n')
    freeze(context, planned, replace(PLAN, suite="small", competitions=(), seeds=(1,)))
    run(context, planned, "bikes", 1)
    assert departures(context, planned) == []

    file.write_text('[suites.small]\ntitle = "S"\ncompetitions = ["bikes", "leaves"]\n')
    assert departures(context, planned) == ["suite_changed"]
    file.write_text("")  # the suite was removed
    assert departures(context, planned) == ["suite_changed"]


def archive_it(context: Context, kind: ArchivalKind, name: str) -> None:
    record = ArchivalRecord(kind=kind, name=name, archived_at=datetime.now(UTC), reason="a mistake")
    context.database.write(lambda session: archive.archive(session, record))


def test_imported_runs_are_departures_although_all_else_is_planned(
    context: Context, planned: str
) -> None:
    """They are made of files from elsewhere, so their policy and their limits are not known."""
    plan = replace(PLAN, competitions=("bikes",))
    freeze(context, planned, plan)
    for seed in plan.seeds[:2]:
        made, _ = create(context, NewRun(planned, "bikes", seed, Feedback.NONE, {}))
        of = ImportedRunRecord(
            run_id=made.id, file="f", place="1", sha256="", document={}, imported_at=NOON
        )
        context.database.write(lambda session, of=of: imported_runs.add(session, [of]))

    found = frozen(context, planned)
    assert found is not None
    assert [(one["code"], one["text"]) for one in found.departures] == [
        ("imported", "2 results were imported")
    ]


def test_departures_of_a_past_time_are_those_of_that_time(context: Context, planned: str) -> None:
    before = datetime.now(UTC)
    freeze(context, planned, replace(PLAN, competitions=("bikes",), seeds=(1,)))
    at_freeze = datetime.now(UTC)
    run(context, planned, "bikes", 1)
    as_planned = datetime.now(UTC)
    run(context, planned, "leaves", 9)
    with context.database.read() as session:
        first, _ = runs.list_runs(session, experiment=planned, limit=None)
        record = experiments.get(session, planned)
    assert record is not None
    archive_it(context, ArchivalKind.RUN, first.id)
    before_the_last = datetime.now(UTC)
    archive_it(context, ArchivalKind.COMPETITION, "bikes")

    def then(as_of: datetime | None) -> list[str] | None:
        found = freezes_of(context, [record], PLAN.padding, as_of).get(planned)
        return found and sorted(one["code"] for one in found.departures)

    assert then(before) is None
    assert then(at_freeze) == ["missing_run"]
    assert then(as_planned) == []
    assert then(before_the_last) == ["archived", "competition", "seed"]
    assert then(None) == ["archived", "archived_competition", "competition", "seed"]
    context.database.write(
        lambda session: archive.restore(
            session, ArchivalKind.COMPETITION, "bikes", at=datetime.now(UTC), reason="", by=None
        )
    )
    assert then(None) == ["archived", "competition", "seed"]


def test_the_plan_has_the_model_that_was_amended_before_it(
    context: Context, planned: str, meanwhile: Meanwhile
) -> None:
    """The freeze read it before, and the amendment was in the log before the freeze."""
    change = {"model": "another"}
    ended = meanwhile(
        experiments, "get", lambda: amend(context, planned, change, reason="a mistake", by=None)
    )
    receipt, _ = freeze(context, planned, PLAN)
    ended()
    amended = "model_amended" in departures(context, planned)
    with context.database.read() as session:
        entries = [one.kind for one in log.entries(session, start=0, limit=9)]
    assert entries == ["key", "amendment", "receipt"]
    assert not amended
    assert '"model": "another"' in receipt.statement


def test_a_freeze_waits_for_a_run_that_is_being_made_and_is_refused(
    servers: tuple[Context, Context], meanwhile: Meanwhile
) -> None:
    one, other = servers
    one.database.write(lambda session: experiments.add(session, make_experiment("planned")))
    ended = meanwhile(runs, "add_run", lambda: freeze(other, "planned", PLAN))
    run(one, "planned", "bikes", 1)
    with pytest.raises(ExperimentStarted):
        ended()
    assert frozen(one, "planned") is None


def test_a_run_waits_for_a_freeze_and_is_made_after_it(
    servers: tuple[Context, Context], meanwhile: Meanwhile
) -> None:
    one, other = servers
    one.database.write(lambda session: experiments.add(session, make_experiment("planned")))
    ended = meanwhile(runs, "list_runs", lambda: run(other, "planned", "bikes", 1))
    freeze(one, "planned", PLAN)
    ended()
    assert "early_run" not in departures(one, "planned")
