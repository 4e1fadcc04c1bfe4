"""The header `Prefer`: how long a client wants to wait for an outcome (RFC 7240)."""

from __future__ import annotations

import re

from fastapi import Request

QUOTED = r'"(?:[^"\\]|\\.)*"?'
# A `wait` may also be a parameter of a preference: clients write `return=minimal; wait=20`. A
# quoted text is one value, whatever it contains.
PREFERENCE = re.compile(
    rf'(?P<name>[^\s,;="]+)(?:\s*=\s*(?P<value>(?:{QUOTED}|[^\s,;"])*))?|{QUOTED}'
)
SECONDS = re.compile(r'("?)([0-9]+)\1')


def wait_seconds(request: Request, longest: float) -> float | None:
    """How long the client wants to wait for the grade: without a thread or transaction."""
    found = preferred_wait(", ".join(request.headers.getlist("Prefer")))
    return None if found is None else min(found, longest)


def preferred_wait(prefer: str) -> float | None:
    """The seconds of the first `wait`, if it is a whole number, also in quotes.

    If it is another number, such as `1e3` or `1.5`, it is ignored, and so are those after it.

    >>> preferred_wait('return=minimal, wait=20'), preferred_wait('x="wait=9", wait=4')
    (20.0, 4.0)
    >>> preferred_wait('x="bar wait=9 "'), preferred_wait('wait=1.5, wait=4')
    (None, None)
    """
    for each in PREFERENCE.finditer(prefer):
        if (each["name"] or "").lower() == "wait":
            seconds = SECONDS.fullmatch(each["value"] or "")
            return None if seconds is None else float(seconds[2])
    return None
