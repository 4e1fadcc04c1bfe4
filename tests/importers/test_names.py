"""The longest names that are accepted, and names in messages."""

from __future__ import annotations

import pytest

from app.importers.names import LONGEST_NAME, SHOWN, name_mistake, shown


@pytest.mark.parametrize(
    ("longest", "next_one", "why"),
    [
        ("a" * LONGEST_NAME, "a" * (LONGEST_NAME + 1), "longer than 200 characters"),
        ("a" + "\u00fc" * 127, "\u00fc" * 128, "longer than 255 bytes"),
        ("\ud7ff", "\ud800", "not UTF-8"),
        ("\ufa00", "\udfff", "not UTF-8"),
    ],
)  # fmt: skip
def test_the_last_name_before_a_mistake(longest: str, next_one: str, why: str) -> None:
    assert why not in (name_mistake(longest) or "")
    assert why in (name_mistake(next_one) or "")


def test_a_long_name_is_shown_in_part() -> None:
    assert shown("a" * SHOWN) == "a" * SHOWN
    assert shown("a" * (SHOWN + 1)) == "a" * SHOWN + "..."
