"""The measure of nesting agrees with the parser on where strings and comments end."""

from __future__ import annotations

import time
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.toml_depth import is_nested_beyond

MOST = 8
DEEP = ".".join("k" * (MOST + 1)) + " = 1\n"
# What opens, closes, escapes or ends a string, a comment or a key.
PIECES = [
    '"',
    "'",
    "\\",
    "\n",
    "#",
    "a",
    " ",
    "=",
    ".",
    "[",
    "]",
    '"""',
    "'''",
    '\\"',
    "\\\\",
    "\r\n",
]
QUOTES = ('"', "'", '"""', "'''")


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(QUOTES), st.lists(st.sampled_from(PIECES))), max_size=4))
def test_a_deep_key_is_found_after_every_text_that_the_parser_accepts(
    strings: list[tuple[str, list[str]]],
) -> None:
    values = [quote + "".join(pieces) + quote for quote, pieces in strings]
    text = "".join(f"v{number} = {value} # {value!r}\n" for number, value in enumerate(values))
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return

    assert not is_nested_beyond(text, MOST)
    assert is_nested_beyond(text + DEEP, MOST)


def test_the_name_of_a_table_may_have_as_many_parts_as_a_key() -> None:
    assert not is_nested_beyond(f"[{'.'.join('k' * MOST)}]\n", MOST)
    assert is_nested_beyond(f"[{'.'.join('k' * (MOST + 1))}]\n", MOST)


@pytest.mark.parametrize(
    "value",
    ['"""a""""', '"""a"""""', "'''a''''", "'''a'''''", '""""a"""', '"""""a"""', '"""\\""""'],
)
def test_a_string_of_several_lines_may_have_quotation_marks_at_its_ends(value: str) -> None:
    text = f"x = {value}\n"
    tomllib.loads(text)

    assert not is_nested_beyond(text, MOST)
    assert is_nested_beyond(text + DEEP, MOST)


@pytest.mark.parametrize("unit", ['a"\\"""', "a'b'''", '"""\\', '"""', "'''", '\\"""', '""\\"'])
@pytest.mark.parametrize("start", ["", '"""', "'''", 'x = """a"'])
def test_unclosed_strings_take_time_in_proportion(start: str, unit: str) -> None:
    started = time.process_time()
    is_nested_beyond(start + unit * 50_000, MOST)

    assert time.process_time() - started < 2
