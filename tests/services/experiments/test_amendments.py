"""Amendments: experiments change with a reason, and what was before stays readable."""

from __future__ import annotations

import json

import pytest

from app.domain.states import AmendmentKind
from app.errors import Invalid, NotFound
from app.services.experiments.amendments import amend, history, withdraw_imports
from app.services.experiments.experiments import find
from app.services.imports.grading_reports import ReportSource, import_reports
from app.services.runtime.context import Context
from app.storage.queries import amendments as queries
from app.storage.queries.amendments import AmendmentRecord
from app.storage.queries.elsewhere import imported_grades
from app.storage.queries.elsewhere.imported_grades import ImportedGradeRecord
from tests.grading_reports import entry, medal_lines
from tests.services.conftest import Meanwhile
from tests.storage.make import NOON, World

LEAF = "leaf-classification"


def change(context: Context, reason: str = "a mistake", **changes: object) -> None:
    amend(context, "first", changes, reason=reason, by=None)


def imported(context: Context, competition: str, seed: int) -> None:
    one = ImportedGradeRecord(
        experiment="first", competition=competition, seed=seed, made=True, valid=True, score=0.5,
        medal="gold", above_median=True, source="report", document={"a": 1}, imported_at=NOON,
    )  # fmt: skip
    context.database.write(lambda session: imported_grades.add(session, [one]))


def left(context: Context) -> set[tuple[str, int]]:
    with context.database.read() as session:
        found = imported_grades.of_experiment(session, "first")
    return {(one.competition, one.seed) for one in found}


def test_only_what_differs_is_in_the_amendment(context: Context, here: World, admin: str) -> None:
    changes = {"agent": "aide", "model": "m2", "notes": "better"}
    amend(context, "first", changes, reason="a mistake", by=admin)

    (amendment,), cursor = history(context, "first", None, 10)
    assert (amendment.before, amendment.after) == (
        {"model": "m", "notes": ""},
        {"model": "m2", "notes": "better"},
    )
    assert (amendment.kind, amendment.amended_by, cursor) == (AmendmentKind.AMENDED, admin, None)
    assert find(context, "first").model == "m2"
    assert find(context, "second").model == "m"


def test_resources_change_one_by_one(context: Context, here: World) -> None:
    change(context, resources={"gpus": 1, "hours": 24})
    change(context, resources={"gpus": 2})

    assert find(context, "first").resources == {"gpus": 2, "hours": 24}


@pytest.mark.parametrize(
    "changes", [{}, {"agent": "aide"}, {"agent": " aide"}, {"model": ""}, {"model": "a\u200bb"}]
)
def test_no_change_and_misleading_names_are_refused(
    context: Context, here: World, changes: dict[str, str]
) -> None:
    with pytest.raises(Invalid):
        change(context, **changes)
    assert history(context, "first", None, None) == ([], None)


def test_a_blank_reason_and_an_unknown_experiment_are_refused(
    context: Context, here: World
) -> None:
    with pytest.raises(Invalid, match="reason"):
        change(context, reason=" ", notes="x")
    with pytest.raises(Invalid, match="reason"):
        withdraw_imports(context, "first", competition=None, seed=None, reason=" ", by=None)
    with pytest.raises(NotFound):
        amend(context, "nobody", {"notes": "x"}, reason="x", by=None)
    with pytest.raises(NotFound, match="There is no experiment 'nobody'"):
        withdraw_imports(context, "nobody", competition=None, seed=None, reason="x", by=None)
    with pytest.raises(NotFound, match="There is no experiment 'nobody'"):
        history(context, "nobody", None, 10)
    assert find(context, "first").notes == ""


def test_results_are_withdrawn_as_far_as_they_are_named(context: Context, here: World) -> None:
    everything = {("bikes", 1), ("bikes", 2), ("leaves", 1)}
    for competition, seed in everything:
        imported(context, competition, seed + 10)

    def withdraw(competition: str | None, seed: int | None) -> int:
        return withdraw_imports(
            context, "first", competition=competition, seed=seed, reason="wrong file", by=None
        ).results

    assert withdraw("bikes", 11) == 1
    assert left(context) == {("bikes", 12), ("leaves", 11)}
    with pytest.raises(NotFound, match="no such imported result"):
        withdraw("bikes", 11)
    assert withdraw("leaves", None) == 1
    assert withdraw(None, None) == 1
    assert left(context) == set()
    kept = [one for (one,) in zip(history(context, "first", None, None)[0])]
    assert [one.kind for one in kept] == [AmendmentKind.WITHDRAWN] * 3
    (before,) = kept[0].before["results"]
    assert (before["competition"], before["seed"], before["medal"]) == ("bikes", 11, "gold")


def test_pages_of_a_history(context: Context, here: World) -> None:
    for number in range(3):
        change(context, notes=str(number))

    page, cursor = history(context, "first", None, 2)
    rest, end = history(context, "first", cursor, 2)

    assert [one.after["notes"] for one in page + rest if one.after] == ["0", "1", "2"]
    assert end is None
    for wrong in ("-1", "x", "1" * 19):
        with pytest.raises(Invalid, match="cursor"):
            history(context, "first", wrong, 2)


def test_of_two_amendments_at_once_the_second_changes_what_the_first_left(
    servers: tuple[Context, Context], meanwhile: Meanwhile
) -> None:
    one, other = servers
    change(one, resources={"gpus": 1})
    ended = meanwhile(
        queries, "change_experiment", lambda: change(other, "another", resources={"hours": 24})
    )
    change(one, resources={"gpus": 2})
    ended()

    assert find(one, "first").resources == {"gpus": 2, "hours": 24}
    last = history(one, "first", None, 10)[0][-1]
    assert (last.before, last.after) == (
        {"resources": {"gpus": 2}},
        {"resources": {"gpus": 2, "hours": 24}},
    )


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_results_that_are_withdrawn_twice_at_once_are_withdrawn_once(
    servers: tuple[Context, Context], meanwhile: Meanwhile
) -> None:
    one, other = servers
    imported(one, "bikes", 5)
    ended = meanwhile(queries, "delete", lambda: withdraw(other))
    assert withdraw(one).results == 1
    with pytest.raises(NotFound, match="no such imported result"):
        ended()


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_a_result_that_is_imported_while_others_are_withdrawn_stays(
    servers: tuple[Context, Context], meanwhile: Meanwhile
) -> None:
    """It was removed, and no amendment had it."""
    one, other = servers
    imported(one, "bikes", 5)
    report = json.dumps(entry(medal_lines()[LEAF], 0.1)).encode()
    ended = meanwhile(
        queries,
        "delete",
        lambda: import_reports(other, "first", [ReportSource(report)], seed=1, repeats=False),
    )
    assert withdraw(one).results == 1
    assert ended().imported == 1
    assert left(one) == {(LEAF, 1)}


def withdraw(context: Context) -> AmendmentRecord:
    return withdraw_imports(context, "first", competition=None, seed=None, reason="wrong", by=None)
