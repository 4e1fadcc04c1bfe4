"""Suites: named lists of competitions, as `suites.toml` next to their folders declares them."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from typing import Any

from app.domain.competition import BYTE_ORDER_MARK, DEEPEST, SLUG
from app.domain.toml_depth import is_nested_beyond
from app.errors import BadCompetition

SUITES_TOML = "suites.toml"
SUITE_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")


def parse_suites(text: str) -> dict[str, tuple[str, ...]]:
    r"""Read the text of a `suites.toml`: each suite's name and its competitions, in file order.

    Raises:
        BadCompetition: it is invalid; the error lists every problem with its key.

    >>> parse_suites('[suites.small]\ntitle = "Two"\ncompetitions = ["a", "b"]')
    {'small': ('a', 'b')}
    """
    text = text.removeprefix(BYTE_ORDER_MARK)
    if is_nested_beyond(text, DEEPEST):
        raise BadCompetition([_error_entry("", f"keys and brackets may be nested {DEEPEST} deep")])
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadCompetition([_error_entry("", f"not TOML: {error}")]) from None
    problems = [_error_entry(key, "unknown key") for key in document if key != "suites"]
    sections = document.get("suites", {})
    if not isinstance(sections, dict):
        problems.append(_error_entry("suites", "must be tables: [suites.NAME]"))
        sections = {}
    for name, section in sections.items():
        problems += _check_suite(name, section)
    if problems:
        raise BadCompetition(problems)
    return {name: tuple(section["competitions"]) for name, section in sections.items()}


def _check_suite(name: str, section: Any) -> list[dict[str, str]]:
    key = f"suites.{name}"
    if not SUITE_NAME.fullmatch(name):
        return [
            _error_entry(key, "a suite's name has small letters, digits and hyphens, at most 100")
        ]
    if not isinstance(section, dict):
        return [_error_entry(key, "must be a table with title and competitions")]
    problems = [
        _error_entry(f"{key}.{other}", "unknown key")
        for other in section
        if other not in ("title", "competitions")
    ]
    title = section.get("title")
    if not isinstance(title, str) or not title.strip():
        problems.append(_error_entry(f"{key}.title", "a text is required here"))
    slugs = section.get("competitions")
    if not isinstance(slugs, list) or not slugs:
        return [
            *problems,
            _error_entry(f"{key}.competitions", "must list at least one competition"),
        ]
    key += ".competitions"
    wrong = [slug for slug in slugs if not isinstance(slug, str) or not SLUG.fullmatch(slug)]
    problems += [_error_entry(key, f"{slug!r} is not a slug") for slug in wrong]
    times = Counter(slug for slug in slugs if isinstance(slug, str))
    repeated = [slug for slug, count in times.items() if count > 1]
    return problems + [_error_entry(key, f"names {slug} twice") for slug in repeated]


def _error_entry(key: str, message: str) -> dict[str, str]:
    return {"file": SUITES_TOML, "key": key, "message": message}
