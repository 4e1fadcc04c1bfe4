"""Query parameters that a route does not know are refused: a typo must not change a number."""

from __future__ import annotations

import difflib

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from app.errors import Invalid


def refuse_unknown_parameters(request: Request) -> None:
    """Refuse a request whose query names a parameter that its route does not have.

    Raises:
        Invalid: with every unknown name, and the nearest known one.
    """
    route = request.scope.get("route")
    if not request.query_params or not isinstance(route, APIRoute):
        return
    known = _known_names(route)
    unknown = [name for name in dict.fromkeys(request.query_params) if name not in known]
    if unknown:
        raise Invalid("; ".join(_about(name, known) for name in unknown[:5]))


def _known_names(route: APIRoute) -> frozenset[str]:
    return frozenset(_names(route.dependant))


def _names(dependant: Dependant) -> set[str]:
    found = {field.alias for field in dependant.query_params}
    return found.union(*(_names(inner) for inner in dependant.dependencies))


def _about(name: str, known: frozenset[str]) -> str:
    shown = name[:50]
    near = difflib.get_close_matches(shown, known, n=1)
    if near:
        return f"query.{shown}: unknown parameter; did you mean {near[0]}?"
    if not known:
        return f"query.{shown}: unknown parameter; this address takes none."
    return f"query.{shown}: unknown parameter; this address takes {', '.join(sorted(known))}."
