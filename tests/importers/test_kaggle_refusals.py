"""Why Kaggle does not give files, in words that say what to do."""

from __future__ import annotations

from datetime import datetime
from types import SimpleNamespace

import pytest

from app.errors import Forbidden
from app.importers.kaggle_refusals import CannotBeJoined, RulesNotAccepted, why_refused

PAST, COMING = datetime(2020, 1, 1), datetime(2999, 1, 1)  # noqa: DTZ001 (Kaggle's have no zone)
ACCEPT = "You must accept the rules"


@pytest.mark.parametrize(
    ("entrants", "deadline", "detail", "kind"),
    [
        (None, None, "no", RulesNotAccepted),
        (None, COMING, "no", RulesNotAccepted),
        (None, PAST, "no", CannotBeJoined),
        (PAST, COMING, "no", CannotBeJoined),
        (COMING, PAST, "no", RulesNotAccepted),
        (None, PAST, ACCEPT, RulesNotAccepted),
    ],
)
def test_a_refused_download_says_what_to_do(
    entrants: datetime | None, deadline: datetime | None, detail: str, kind: type[Forbidden]
) -> None:
    competition = SimpleNamespace(
        new_entrant_deadline=entrants, deadline=deadline, user_has_entered=False
    )
    error = why_refused("bikes", competition, Forbidden(detail))

    assert type(error) is kind
    text = ("bikes cannot be joined any more. Kaggle says: no" if kind is CannotBeJoined
            else "open https://www.kaggle.com/competitions/bikes/rules in a browser")  # fmt: skip
    assert text in error.detail
    competition.user_has_entered = True
    own = Forbidden(detail)
    assert why_refused("bikes", competition, own) is own
