"""The reasons of decisions, which the public log keeps for later readers."""

from __future__ import annotations

from app.errors import Invalid


def refuse_blank_reason(reason: str) -> None:
    """Refuse a blank reason.

    Raises:
        Invalid: it has no character but blanks.
    """
    if not reason.strip():
        raise Invalid("reason: it is empty; say why, for later readers.")
