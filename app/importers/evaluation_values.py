"""Check the values in MLAgentBench's results. Errors say where the value is."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from app.errors import Invalid
from app.importers.json_text import Pairs, quoted

NO_SCORE = -1.0
MOST_SCORES = 10_000
MOST_PLACE = 1000
MOST_RUNS = 10_000
MOST_MISMATCHES = 100_000  # an entry without any of the usual fields has seven


class BadEvaluation(Invalid):
    """The file is not what MLAgentBench's evaluation writes.

    Carries the `place` of the first mistake and the `reason`.
    """


def refuse_constant(name: str) -> Any:
    """Reject NaN and the infinities, which JSON does not have."""
    raise ValueError(f"{name} is not a number; a run without a score has {NO_SCORE:g}")


def check_place(place: str) -> None:
    """Reject a key that is not a path of a trace file."""
    if not place.strip() or len(place) > MOST_PLACE or not place.isprintable():
        shown = place[:60].encode("ascii", "backslashreplace").decode()
        raise bad_evaluation(
            shown, f"it is not a path of a trace file, of at most {MOST_PLACE} characters"
        )


def objects(repeated: list[str]) -> Callable[[Pairs], dict[str, Any]]:
    """A function that makes objects. Repeated keys with equal values go to `repeated`."""

    def to_object(pairs: Pairs) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in pairs:
            if name in found:
                if found[name] != value:
                    raise ValueError(
                        f"an object has the key {quoted(name)} twice, with different values"
                    )
                repeated.append(name)
            found[name] = value
        return found

    return to_object


def as_number(place: str, name: str, value: Any) -> float | None:
    """A finite number; None for null."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise bad_evaluation(f"{place}.{name}", f"{quoted(value)} is not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise bad_evaluation(f"{place}.{name}", "the number is too large")
    return number


def as_list(place: str, name: str, value: Any) -> list[Any]:
    """A list that is not too long."""
    if not isinstance(value, list):
        raise bad_evaluation(f"{place}.{name}", f"{quoted(value)} is not a list")
    if len(value) > MOST_SCORES:
        raise bad_evaluation(f"{place}.{name}", f"it has more than {MOST_SCORES:,} values")
    return value


def as_steps(place: str, value: Any) -> list[int]:
    """The numbers of steps, each more than the one before."""
    found = as_list(place, "score_steps", value)
    for at, each in enumerate(found):
        if isinstance(each, bool) or not isinstance(each, int) or not 0 <= each < 2**53:
            raise bad_evaluation(
                f"{place}.score_steps.{at}", f"{quoted(each)} is not the number of a step"
            )
        if at and each <= found[at - 1]:
            raise bad_evaluation(
                f"{place}.score_steps.{at}", f"step {each} comes after {found[at - 1]}"
            )
    return found


def as_kind(place: str, name: str, item: Mapping[str, Any], kind: type, *, default: Any) -> Any:
    """A value of this type; `default` if there is none."""
    value = item.get(name)
    if value is None:
        return default
    if not isinstance(value, kind):
        wanted = {bool: "true or false", str: "a text", dict: "an object"}[kind]
        raise bad_evaluation(f"{place}.{name}", f"{quoted(value)} is not {wanted}")
    return value


def bad_evaluation(place: str, reason: str) -> BadEvaluation:
    """The error for an invalid file, with the place and the reason."""
    where = f" at {place}" if place else ""
    return BadEvaluation(
        f"The results of MLAgentBench are refused{where}: {reason}.", place=place, reason=reason
    )
