"""The properties of competitions on which results rest, of their present versions."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.services.results.inputs.competition_info import (
    CompetitionInfo,
    LeaderboardsMissing,
    competition_info,
    refuse_without_board,
)
from app.services.runtime.context import Context
from tests.storage.make import NOON, add_version

WITH = CompetitionInfo(has_board=True)
WITHOUT = CompetitionInfo(has_board=False, boardless=frozenset({7}))
NEW_BOARD = CompetitionInfo(has_board=True, boardless=frozenset({7}))


def test_the_present_version_says_what_it_is_and_earlier_ones_have_no_board(
    context: Context,
) -> None:
    flag = {"code": "leak", "note": "the ids"}
    fields = {"complexity": "low", "category": "text", "tags": ["a", "b"], "flags": [flag]}
    first = context.database.write(
        lambda s: add_version(s, "bikes", document={"complexity": "high"}, leaderboard=None)
    )
    context.database.write(
        lambda s: add_version(
            s, "bikes", number=2, document=fields, imported_at=NOON + timedelta(hours=1)
        )
    )

    now = competition_info(context, {"bikes"})["bikes"]
    before = competition_info(context, {"bikes"}, as_of=NOON + timedelta(minutes=1))["bikes"]

    assert now == CompetitionInfo(
        "low", "text", ("a", "b"), (("leak", "the ids"),), True, frozenset({first.id})
    )
    assert (before.complexity, before.has_board) == ("high", False)


def test_a_suite_has_the_complexity_of_a_competition_that_was_not_imported(
    context: Context,
) -> None:
    (slug, *_) = context.catalogue.suites()["mle-bench-medium"]

    found = competition_info(context, {slug, "unknown"})

    assert (found[slug].complexity, found[slug].has_board) == ("medium", None)
    assert found["unknown"] == CompetitionInfo()


@pytest.mark.parametrize(
    ("infos", "graded_by", "named"),
    [
        ({"a": WITH, "b": CompetitionInfo()}, {7}, None),  # b was not imported
        ({"a": WITHOUT, "b": WITH, "c": WITHOUT}, set(), ["a", "c"]),
        ({"a": NEW_BOARD, "b": WITH}, {8}, None),
        ({"a": NEW_BOARD, "b": WITH}, {7}, ["a"]),
    ],
)
def test_medals_are_not_counted_where_none_could_be_won(
    infos: dict[str, CompetitionInfo], graded_by: set[int], named: list[str] | None
) -> None:
    if named is None:
        refuse_without_board(infos, graded_by)
        return

    with pytest.raises(LeaderboardsMissing) as caught:
        refuse_without_board(infos, graded_by)

    assert caught.value.extensions == {"no_leaderboard": named}
