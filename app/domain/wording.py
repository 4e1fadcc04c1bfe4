"""Texts in messages and files: lists and what is left out, numbers with nouns, values of TOML."""

from __future__ import annotations

import json
from collections.abc import Sequence


def first_few(items: Sequence[str], most: int, separator: str = ", ") -> str:
    """The first `most` items, joined, and the number of the others.

    >>> first_few(["a", "b", "c", "d"], 2)
    'a, b and 2 more'
    >>> first_few(["a", "b"], 2)
    'a, b'
    """
    text = separator.join(items[:most])
    return text if len(items) <= most else f"{text} and {len(items) - most} more"


def first_lines(lines: Sequence[str], most: int, advice: str) -> list[str]:
    """The first `most` lines; if there are others, a last one with their number and the advice.

    >>> first_lines(["a", "b", "c"], 2, "--json lists all")
    ['a', 'b', 'and 1 more; --json lists all']
    >>> first_lines(["a", "b"], 2, "--json lists all")
    ['a', 'b']
    """
    shown = list(lines[:most])
    more = len(lines) - len(shown)
    return shown if more == 0 else [*shown, f"and {more} more; {advice}"]


def counted(count: int, noun: str, plural: str = "") -> str:
    """A number with its noun.

    >>> counted(1, "seed"), counted(3, "seed"), counted(3, "entry", "entries")
    ('1 seed', '3 seeds', '3 entries')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {plural or noun + 's'}"


def are(count: int, noun: str) -> str:
    """A number with its noun and the verb.

    >>> are(1, "run"), are(2, "run")
    ('1 run is', '2 runs are')
    """
    return f"{counted(count, noun)} {'is' if count == 1 else 'are'}"


def toml_value(value: object) -> str:
    r"""A text or number as a `competition.toml` has it.

    >>> print(toml_value('"a"\x7f'), toml_value(0.5))
    "\"a\"\u007f" 0.5
    """
    # JSON's texts and numbers are TOML's too, but for one character that only TOML escapes.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
