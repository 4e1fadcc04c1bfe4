"""Parts of captions: how many seeds there are, and what is missing and how it counts."""

from __future__ import annotations

from collections.abc import Sequence

from app.domain.result_choices import Padding
from app.domain.wording import counted
from app.reports.document.footnotes import EFFECTS


def seeds_each(numbers: Sequence[int]) -> str:
    """A text about the numbers of seeds: how many each has.

    >>> seeds_each([3, 2, 3]), seeds_each([1]), seeds_each([])
    ('2 to 3 seeds each', '1 seed each', 'no seeds')
    """
    if not numbers:
        return "no seeds"
    first, last = min(numbers), max(numbers)
    return f"{counted(first, 'seed') if first == last else f'{first} to {last} seeds'} each"


def missing(count: int, padding: Padding) -> str:
    """How many results are missing, and how these count, as in reports.

    >>> missing(6, Padding.FAIL)
    '6 results are missing and count as failures.'
    >>> missing(1, Padding.FAIL)
    '1 result is missing; missing results count as failures.'
    >>> missing(0, Padding.FAIL)
    'Nothing is missing.'
    """
    if count == 0:
        return "Nothing is missing."
    effect = EFFECTS[padding.value]
    if count == 1:
        return f"1 result is missing; missing results {effect}."
    return f"{count} results are missing and {effect}."
