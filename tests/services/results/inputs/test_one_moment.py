"""An answer is of one moment: what is changed while it is made is in all of it, or in nothing."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event

from app.domain.result_choices import Padding
from app.services.experiments.amendments import withdraw_imports
from app.services.experiments.experiments import NewExperiment, create
from app.services.results.inputs.scope import ResultFilter, result_context
from app.services.results.inputs.several import several
from app.services.runtime.context import Context
from app.storage.queries import exposure
from app.storage.queries.elsewhere import imported_grades
from app.storage.queries.elsewhere.imported_grades import ImportedGradeRecord
from app.storage.queries.regrades.in_force import Basis
from tests.services.results.make import closed_run
from tests.services.submissions.conftest import readable_version
from tests.storage.make import NOON

AVAILABLE = ResultFilter(padding=Padding.AVAILABLE)


@pytest.mark.parametrize("alone", [True, False])
def test_a_result_that_is_withdrawn_meanwhile_is_counted_or_withdrawn(
    context: Context, alone: bool
) -> None:
    create(context, NewExperiment("e", "a", "m", "", None))
    results = [
        ImportedGradeRecord(
            experiment="e", competition="elsewhere", seed=seed, made=True, valid=True, score=0.5,
            medal="gold", above_median=True, source="report", document={}, imported_at=NOON,
        )
        for seed in range(2)
    ]  # fmt: skip
    context.database.write(lambda session: imported_grades.add(session, results))
    todo = [0]

    def withdraw(*args: Any) -> None:
        if todo and "amendment" in args[2] and "imported_grade" not in args[2]:
            seed = todo.pop()
            withdraw_imports(context, "e", competition=None, seed=seed, reason="wrong", by=None)

    event.listen(context.database.reading_engine, "before_cursor_execute", withdraw)
    counted = []
    for _ in range(2):
        if alone:
            found, _info = result_context(context, "e", AVAILABLE)
        else:
            (found,) = several(context, AVAILABLE, ["e"]).contexts
        counted.append((len(found.grid.counted_keys), found.withdrawn))
    assert todo == []
    assert counted == [(2, 0), (1, 1)]


@pytest.mark.parametrize("names", [["first"], []])
def test_what_agents_were_told_is_that_of_the_moment(context: Context, names: list[str]) -> None:
    run, _ = closed_run(context, readable_version(context, "bikes"), 1)
    for after in (timedelta(0), timedelta(hours=2)):
        at = NOON + after
        context.database.write(
            lambda session, at=at: exposure.record(session, run.id, "validation", None, None, at)
        )
    then = ResultFilter(padding=Padding.AVAILABLE, basis=Basis(as_of=NOON + timedelta(hours=1)))

    told = [
        next(one.disclosed for one in several(context, asked, names).contexts)
        for asked in (AVAILABLE, then)
    ]

    assert told == [{"validation": 2}, {"validation": 1}]
