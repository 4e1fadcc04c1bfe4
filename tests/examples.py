"""How many examples Hypothesis draws for a test that sets the number itself."""

from __future__ import annotations

from hypothesis import settings

USUAL = 100  # of Hypothesis, for tests that set no number


def examples(most: int) -> int:
    """`most`, or the same part of it that the profile of this run draws of the usual number.

    `make quick` draws a fifth: `tests/conftest.py`.
    """
    return max(1, most * settings.default.max_examples // USUAL)
