"""The ledger of what a run's agent and its harness were told."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from app.domain.states import Role
from app.errors import BadRequest, Forbidden
from app.services.auth import Caller, authenticate
from app.services.experiments.disclosures import disclosures_of, entries_after, ledger
from app.services.new_keys import new_key
from app.services.runtime.context import Context
from app.storage.queries import exposure, keys
from tests.storage.make import NOON, World, add_grade, make_grade


def caller(context: Context, role: Role, run_id: str | None = None) -> Caller:
    key, record = new_key(role, "of the test", run_id=run_id)
    context.database.write(lambda session: keys.add_key(session, record))
    with context.database.read() as session:
        return authenticate(session, key)


def disclose(context: Context, here: World) -> str:
    """Tell the agent of a validation and a score, and a harness of another score."""
    sent = here.submit()
    grade = context.database.write(lambda session: add_grade(session, make_grade(sent)))
    told = [("validation", None, None), ("public_score", sent.id, grade.id)]
    told.append(("harness_private_score", sent.id, grade.id))

    def record(session: Session) -> None:
        for kind, submission, number in told:
            exposure.record(session, here.run.id, kind, submission, number, NOON)

    context.database.write(record)
    return sent.id


def test_a_runs_key_sees_what_its_agent_was_told_and_a_researcher_all(
    context: Context, here: World
) -> None:
    disclose(context, here)

    own = ledger(
        context, caller(context, Role.RUN, here.run.id), here.run.id, after=None, limit=None
    )
    full = ledger(context, caller(context, Role.RESEARCHER), here.run.id, after=None, limit=None)

    assert [one.kind for one in own.disclosed] == ["validation", "public_score"]
    assert own.harness_totals is None
    assert own.totals == full.totals
    assert {kind: n for kind, n in full.totals.items() if n} == {"validation": 1, "public_score": 1}
    assert full.harness_totals is not None
    assert {kind: n for kind, n in full.harness_totals.items() if n} == {"private_score": 1}
    assert [one.kind for one in full.disclosed][-1] == "harness_private_score"


def test_pages_have_each_entry_once_and_the_totals_of_all(context: Context, here: World) -> None:
    disclose(context, here)
    reader = caller(context, Role.RESEARCHER)

    first = ledger(context, reader, here.run.id, after=None, limit=2)
    second = ledger(context, reader, here.run.id, after=first.next_cursor, limit=2)

    kinds = [one.kind for page in (first, second) for one in page.disclosed]
    assert kinds == ["validation", "public_score", "harness_private_score"]
    assert first.totals == second.totals
    assert second.next_cursor is None
    rest = entries_after(context, reader, first, first.disclosed[-1].id or 0)
    assert rest == second.disclosed


@pytest.mark.parametrize("cursor", ["", "-1", "x", "1" * 19, "\N{ARABIC-INDIC DIGIT ONE}"])
def test_a_cursor_of_another_list_is_refused(context: Context, here: World, cursor: str) -> None:
    with pytest.raises(BadRequest):
        ledger(context, caller(context, Role.ADMIN), here.run.id, after=cursor, limit=2)


def test_disclosures_to_the_agent_and_to_harnesses_are_told_apart(
    context: Context, here: World
) -> None:
    sent = disclose(context, here)

    reader = caller(context, Role.RESEARCHER)
    agent, harness = disclosures_of(context, reader, here.run.id, [sent])

    assert agent.by_submission == {sent: ["public_score"]}
    assert harness.by_submission == {sent: ["private_score"]}
    assert (agent.totals["validation"], harness.totals["validation"]) == (1, 0)
    nobody, _ = disclosures_of(context, reader, here.other_run.id, [])
    assert nobody.is_empty


def test_a_runs_key_may_not_ask_what_harnesses_were_told(context: Context, here: World) -> None:
    with pytest.raises(Forbidden):
        disclosures_of(context, caller(context, Role.RUN, here.run.id), here.run.id, [])
