"""The reasons of decisions, which the public log keeps for later readers."""

from __future__ import annotations

from app.errors import Invalid

LONGEST_REASON = 2_000  # characters


def check_reason(reason: str, field: str = "reason") -> None:
    """Refuse a blank reason and one that is too long; `field` is its name in the error.

    Raises:
        Invalid: it has no character but blanks, or more than LONGEST_REASON.
    """
    if not reason.strip():
        raise Invalid(f"{field}: it is empty; say why, for later readers.")
    if len(reason) > LONGEST_REASON:
        raise Invalid(
            f"{field}: it has {len(reason):,} characters; write at most {LONGEST_REASON:,}."
        )
