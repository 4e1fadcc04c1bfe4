"""Error messages for the patterns of parameters and fields, and for some errors of Pydantic.

The messages are here and not next to each parameter, since many parameters share a pattern. A test
compares this list with the patterns of all routes (`tests/api/test_patterns.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

EXPECTED: Mapping[str, str] = MappingProxyType(
    {
        r"^[0-9]{1,6}(,[0-9]{1,6})*$": "whole numbers from 1 to 999999, joined by commas",
        r"^([0-9]{1,12}(\.[0-9]{1,6})?(,[0-9]{1,12}(\.[0-9]{1,6})?)*)?$": (
            "numbers such as 0,1.5,24, joined by commas, with at most 12 digits before the decimal "
            "point and 6 after it"
        ),
        r"^[0-9]{1,18}$": "a whole number of at most 18 digits",
        r"^[0-9a-f]*$": "a digest: the digits 0 to 9 and the letters a to f",
        r"^[a-z0-9_]+$": "an id: one or more of the letters a to z, digits and _",
        r"^[a-z0-9_, ]*$": "codes of the letters a to z, digits and _, joined by commas",
        r"^[A-Za-z0-9-]+$": "the name of a competition: one or more letters, digits and -",
        r"^[A-Za-z0-9][A-Za-z0-9-]*$": (
            "the name of a competition: letters, digits and -, of which the first is not -"
        ),
        r"^[^\x00]*$": "text without the character NUL",
        r"^[^\x00-\x1f\x7f]*$": "text without line breaks, tabs and other control characters",
        r"^[^\x00-\x1f\x7f]+$": "text without line breaks, tabs and other control characters",
        r"^[^\x00-\x1f\x7f/]+$": "text without /, line breaks, tabs and other control characters",
    }
)


def in_words(error: Mapping[str, Any]) -> str:
    """The message of one of Pydantic's errors; for some of them, a text that says what to do."""
    if error["type"] == "string_pattern_mismatch":
        words = EXPECTED.get(error["ctx"]["pattern"])
        if words:
            return f"expected {words}"
    if error["type"] == "json_invalid":  # the position is the number of characters before it
        at = error["loc"][-1] + 1
        return f"this is not valid JSON at character {at}: {error['ctx']['error']}"
    if error["type"] == "extra_forbidden":
        return "unknown field; /docs lists those that are known"
    if error["type"] == "model_attributes_type":
        is_body = len(error["loc"]) == 1  # curl sends JSON without the header
        header = ", with the header 'Content-Type: application/json'" if is_body else ""
        return f"expected a JSON object{header}"
    return str(error["msg"]).removeprefix("Value error, ")  # Pydantic's, before a text of ours
