"""Query parameters that would be ignored are refused: a slip must not change a number.

These are names that a route does not know, a second value where one counts, and lists of nothing.
"""

from __future__ import annotations

import difflib
from typing import get_origin

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from app.errors import Invalid

MOST_FAULTS = 5


def refuse_ignored_parameters(request: Request) -> None:
    """Refuse a request whose query has a parameter that its route would not look at.

    Raises:
        Invalid: with each unknown name and the nearest known one, each parameter that is given
            several times and has one value, and each list that names nothing; five at most.
    """
    route = request.scope.get("route")
    if not request.query_params or not isinstance(route, APIRoute):
        return
    known = _known(route.dependant)
    faults: list[str] = []
    for name in dict.fromkeys(request.query_params):
        if len(faults) == MOST_FAULTS:  # to find near names for thousands takes seconds
            break
        values = request.query_params.getlist(name)
        if name not in known:
            faults.append(_about(name, frozenset(known)))
        elif not known[name] and len(values) > 1:
            faults.append(f"query.{name}: it is given {len(values)} times, and takes one value.")
        elif known[name] and not all(value.replace(",", " ").strip() for value in values):
            faults.append(f"query.{name}: it names nothing; leave it out to name none.")
    if faults:
        raise Invalid(" ".join(faults))


def _known(dependant: Dependant) -> dict[str, bool]:
    """The names of the parameters, and whether each takes several values."""
    found = {
        field.alias: get_origin(field.field_info.annotation) in (list, set, tuple)
        for field in dependant.query_params
    }
    for inner in dependant.dependencies:
        found |= _known(inner)
    return found


def _about(name: str, known: frozenset[str]) -> str:
    shown = name[:50]
    near = difflib.get_close_matches(shown, known, n=1)
    if near:
        return f"query.{shown}: unknown parameter; did you mean {near[0]}?"
    if not known:
        return f"query.{shown}: unknown parameter; this address takes none."
    return f"query.{shown}: unknown parameter; this address takes {', '.join(sorted(known))}."
