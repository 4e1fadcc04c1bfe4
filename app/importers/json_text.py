"""Parse JSON that people send. Errors name the place and the reason."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

ErrorAt = Callable[[str, str], Exception]  # the error for a place and a reason
Pairs = list[tuple[str, Any]]


def parse_json(
    data: bytes,
    error_at: ErrorAt,
    *,
    pairs: Callable[[Pairs], dict[str, Any]],
    constant: Callable[[str], Any] | None = None,
) -> Any:
    """Parse the document in `data`; `pairs` makes objects, `constant` handles NaN and Infinity.

    Raises:
        The error of `error_at`: it is not JSON, or not UTF-8, or `pairs` or `constant`
            raised ValueError.
    """
    if data.startswith(b"version https://git-lfs"):
        raise error_at("line 1", "this is a Git LFS pointer, not the file: run `git lfs pull`")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise error_at(f"byte {error.start}", "it is not UTF-8") from None
    try:
        return json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise error_at(place, f"it is not JSON: {error.msg}") from None
    except (RecursionError, ValueError) as error:
        raise error_at("", f"it cannot be read: {error}") from None


def storable(value: Any) -> Any:
    """The value without NaN, infinities, NULs and lone surrogates, which databases reject."""
    if isinstance(value, dict):
        return {storable(key): storable(each) for key, each in value.items()}
    if isinstance(value, list):
        return [storable(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, str):
        return value.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    return value
