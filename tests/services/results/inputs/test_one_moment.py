"""An answer is of one moment: what is changed while it is made is in all of it, or in nothing."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import event

from app.domain.result_choices import Padding
from app.services.experiments.amendments import withdraw_imports
from app.services.experiments.experiments import NewExperiment, create
from app.services.results.inputs.scope import ResultFilter, result_context
from app.services.results.inputs.several import several
from app.services.runtime.context import Context
from app.storage.queries.elsewhere import imported_grades
from app.storage.queries.elsewhere.imported_grades import ImportedGradeRecord
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

    event.listen(context.database._reading, "before_cursor_execute", withdraw)
    counted = []
    for _ in range(2):
        if alone:
            found, _info = result_context(context, "e", AVAILABLE)
        else:
            (found,) = several(context, AVAILABLE, ["e"]).contexts
        counted.append((len(found.grid.counted_keys), found.withdrawn))
    assert todo == []
    assert counted == [(2, 0), (1, 1)]
