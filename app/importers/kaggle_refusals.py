"""The reasons why Kaggle refuses the files of a competition to an account."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from app.errors import Forbidden


class RulesNotAccepted(Forbidden):
    """The rules of the competition are not accepted on Kaggle's site."""


class CannotBeJoined(Forbidden):
    """Nobody can join the competition on Kaggle any more."""


def why_refused(slug: str, competition: Any, error: Forbidden) -> Forbidden:
    """The error that says what to do, since Kaggle's own text is similar for both reasons.

    `competition` has Kaggle's data about it. If Kaggle's text asks to accept the rules, that is
    possible; otherwise nobody can join after the last day for new entrants.
    """
    last = competition.new_entrant_deadline or competition.deadline
    is_over = last is not None and last.replace(tzinfo=UTC) < datetime.now(UTC)
    if competition.user_has_entered:
        return error
    if is_over and "rules" not in error.detail.lower():
        return CannotBeJoined(f"{slug} cannot be joined any more. Kaggle says: {error.detail}")
    return RulesNotAccepted(
        f"The rules of {slug} are not accepted: open https://www.kaggle.com/competitions/{slug}"
        "/rules in a browser, with the account of these credentials."
    )
