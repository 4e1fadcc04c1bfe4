"""How far a regrade has come, and the pages of a competition's regrades."""

from __future__ import annotations

import pytest

from app.domain.states import SETTLED, SubmissionState
from app.errors import Invalid, NotFound
from app.services.regrades.show import find, page
from app.services.runtime.context import Context
from app.storage.queries.regrades import members
from tests.services.regrades.make import graded, started
from tests.storage.make import World
from tests.storage.statements import sent_statements


def test_what_waits_and_what_was_settled_since_are_counted_apart(
    context: Context, here: World
) -> None:
    graded(here)
    graded(here)
    whole = started(context)
    graded(here)

    shown = find(context, whole.id)

    assert (shown.waiting, shown.done, shown.total, shown.missing) == (2, 0, 2, 1)
    assert shown.version is None


def test_of_all_regrades_of_a_list_the_submissions_are_counted_once(
    context: Context, here: World
) -> None:
    """A list of three regrades of 200,000 submissions took two seconds of processor time."""
    for state in SubmissionState:
        here.submit(state=state)
    made = [started(context)]
    graded(here)
    made += [started(context), started(context)]
    graded(here)

    with sent_statements() as executed:
        shown, _ = page(context, "bikes", None, 9)

    settled = len(SETTLED)
    counts = [(one.total, one.missing) for one in shown]
    assert counts == [(settled, 2), (settled + 1, 1), (settled + 1, 1)]
    assert len([each for each in executed if "FROM submission" in each]) == 1
    with context.database.read() as session:
        assert [members.count_missing(session, one) for one in made] == [2, 1, 1]


def test_a_regrade_of_one_submission_misses_none(context: Context, here: World) -> None:
    sent = graded(here)
    graded(here)

    shown = find(context, started(context, submission_id=sent.id, version_id=here.version.id).id)

    assert (shown.total, shown.missing, shown.version) == (1, 0, here.version.number)


def test_pages_of_regrades_follow_each_other_from_the_oldest(context: Context, here: World) -> None:
    graded(here)
    made = [started(context).id for _ in range(3)]

    first, cursor = page(context, "bikes", None, 2)
    rest, end = page(context, "bikes", cursor, 2)

    assert [one.record.id for one in (*first, *rest)] == made
    assert end is None
    assert page(context, "bikes", None, 3)[1] is None
    assert page(context, "leaves", None, 2) == ([], None)
    with pytest.raises(Invalid, match="not the next_cursor"):
        page(context, "bikes", "sub_1", 2)
    with pytest.raises(NotFound, match="no competition 'boats'"):
        page(context, "boats", None, 2)
