"""How far a regrade has come, and the pages of a competition's regrades."""

from __future__ import annotations

import pytest

from app.errors import Invalid, NotFound
from app.services.regrades.show import find, page
from app.services.runtime.context import Context
from tests.services.regrades.make import graded, started
from tests.storage.make import World


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
