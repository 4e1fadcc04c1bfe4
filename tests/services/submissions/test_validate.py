"""Who may let a file be checked, what the check leaves in the ledger, and what a fault says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.domain.states import Role
from app.domain.verdict import Verdict
from app.errors import GradingFault, QuotaExceeded, Unauthorized, Unavailable
from app.graders.messages.results import GraderFault
from app.services.auth import Caller
from app.services.new_keys import new_key
from app.services.runtime.context import Context
from app.services.submissions.validate import finish, refuse_beyond_bound
from app.storage.queries import exposure, keys
from tests.storage.make import World

VALID = Verdict((), ())


def caller(context: Context, here: World, role: Role) -> Caller:
    run = here.run.id if role is Role.RUN else None
    experiment = here.run.experiment if role is Role.HARNESS else None
    _, record = new_key(role, "a key", run_id=run, experiment=experiment)
    context.database.write(lambda session: keys.add_key(session, record))
    return Caller(role, record.id, run_id=run, experiment=experiment)


def ledger(context: Context, here: World) -> Counter[str]:
    with context.database.read() as session:
        return Counter(one.kind for one in exposure.list_disclosures(session, here.run.id))


def bounded(context: Context, most: int) -> Context:
    return replace(context, settings=context.settings.model_copy(update={"run_validations": most}))


@pytest.mark.parametrize(
    ("role", "entries"),
    [
        (Role.RUN, {"validation": 1}), (Role.HARNESS, {"harness_validation": 1}),
        (Role.RESEARCHER, {}), (Role.ADMIN, {}),
    ],
)  # fmt: skip
def test_a_check_for_an_agent_is_in_the_ledger(
    context: Context, here: World, role: Role, entries: dict[str, int]
) -> None:
    assert finish(context, caller(context, here, role), here.run, VALID) is VALID
    assert ledger(context, here) == entries


def test_run_and_harness_have_a_bound_each(context: Context, here: World) -> None:
    run, harness = (caller(context, here, role) for role in (Role.RUN, Role.HARNESS))
    few = bounded(context, 2)
    for _ in range(2):
        refuse_beyond_bound(few, run, here.run)
        finish(few, run, here.run, VALID)

    with pytest.raises(QuotaExceeded, match=r"^2 files of run run_\w+ were checked"):
        refuse_beyond_bound(few, run, here.run)
    with pytest.raises(QuotaExceeded):  # it was let in before the others were counted
        finish(few, run, here.run, VALID)
    refuse_beyond_bound(few, harness, here.run)
    assert ledger(context, here) == {"validation": 2}


@pytest.mark.parametrize(
    ("fault", "error", "message"),
    [
        ("timeout", Unavailable, r"not checked within 3 seconds \(PODIUM_VALIDATION_SECONDS\)"),
        ("crashed", GradingFault, "could not be checked; try again"),
    ],
)
def test_a_fault_is_no_validation(
    context: Context, here: World, fault: str, error: type[Exception], message: str
) -> None:
    settings = context.settings.model_copy(update={"validation_seconds": 3.0})
    run = caller(context, here, Role.RUN)

    with pytest.raises(error, match=message):
        finish(replace(context, settings=settings), run, here.run, GraderFault(fault))
    assert ledger(context, here) == {}


def test_a_key_that_was_revoked_meanwhile_reads_no_verdict(context: Context, here: World) -> None:
    run = caller(context, here, Role.RUN)
    context.database.write(lambda session: keys.revoke_key(session, run.key_id, datetime.now(UTC)))

    with pytest.raises(Unauthorized, match="revoked"):
        finish(context, run, here.run, VALID)
    assert ledger(context, here) == {}
