"""Refuse query parameters that would be ignored or misread, so that no typo changes a number.

These are unknown names, a second value for a parameter that takes one, empty lists, and numbers
such as 1_0, which Python reads as 10.
"""

from __future__ import annotations

import difflib
from typing import Annotated, Any, get_args, get_origin

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from app.errors import Invalid

MOST_MISTAKES = 5
PLAIN = "expected a number in decimal digits, without underscores"


def refuse_ignored_parameters(request: Request) -> None:
    """Refuse a request whose query has a parameter that its route would ignore.

    Raises:
        Invalid: with each unknown name and the nearest known one, each parameter that is given
            several times and has one value, each list that names nothing, and each number with
            an underscore; five at most.
    """
    route = request.scope.get("route")
    if not isinstance(route, APIRoute) or not (request.query_params or request.path_params):
        return
    known = _known(route.dependant)
    numbers = _numbers(route.dependant)
    mistakes = [
        f"path.{name}: {PLAIN}."
        for name, value in request.path_params.items()
        if name in numbers and "_" in str(value)
    ]
    for name in dict.fromkeys(request.query_params):
        if len(mistakes) == MOST_MISTAKES:  # to find similar names for thousands takes seconds
            break
        values = request.query_params.getlist(name)
        if name not in known:
            mistakes.append(_about(name, frozenset(known)))
        elif not known[name] and len(values) > 1:
            mistakes.append(f"query.{name}: it is given {len(values)} times, and takes one value.")
        elif known[name] and not all(value.replace(",", " ").strip() for value in values):
            mistakes.append(f"query.{name}: it names nothing; leave it out to name none.")
        elif name in numbers and any("_" in value for value in values):
            mistakes.append(f"query.{name}: {PLAIN}.")
    if mistakes:
        raise Invalid(" ".join(mistakes))


def _known(dependant: Dependant) -> dict[str, bool]:
    """The names of the parameters, and whether each takes several values."""
    found = {
        field.alias: get_origin(field.field_info.annotation) in (list, set, tuple)
        for field in dependant.query_params
    }
    for inner in dependant.dependencies:
        found |= _known(inner)
    return found


def _numbers(dependant: Dependant) -> set[str]:
    """The names of the parameters that are numbers, in the query and in the path."""
    own = (*dependant.query_params, *dependant.path_params)
    found = {field.alias for field in own if is_number(field.field_info.annotation)}
    return found.union(*map(_numbers, dependant.dependencies))


def is_number(annotation: Any) -> bool:
    """Whether a parameter or field of this type takes a number and no text.

    >>> is_number(float), is_number(int | None), is_number(str | int), is_number(bool)
    (True, True, False, False)
    """
    if get_origin(annotation) is Annotated:
        return is_number(get_args(annotation)[0])
    kinds = [each for each in get_args(annotation) if each is not type(None)]
    return annotation in (int, float) or (bool(kinds) and all(map(is_number, kinds)))


def _about(name: str, known: frozenset[str]) -> str:
    shown = name[:50]
    near = difflib.get_close_matches(shown, known, n=1)
    if near:
        return f"query.{shown}: unknown parameter; did you mean {near[0]}?"
    if not known:
        return f"query.{shown}: unknown parameter; this address takes none."
    return f"query.{shown}: unknown parameter; this address takes {', '.join(sorted(known))}."
