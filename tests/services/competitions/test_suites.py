"""Suites, and which of their competitions this Podium can grade."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.errors import BadCompetition, NotFound
from app.services.competitions import suites
from app.services.runtime.context import Context
from tests.services.submissions.conftest import readable_version

SUITES = """
[suites.small]
title = "Two"
competitions = ["bikes", "absent"]
"""


def test_each_member_has_its_status(context: Context) -> None:
    name = "mle-bench-low"
    assert name in {one.name for one in suites.page(context, None, None)[0]}
    readable_version(context, "leaf-classification")

    found = {one.slug: one.status for one in suites.find(context, name).competitions}

    assert found["leaf-classification"] == "ready"
    assert set(found.values()) == {"ready", "not_imported"}
    assert list(found) == sorted(found)


def test_a_suite_is_read_without_a_database(tmp_path: Path) -> None:
    (tmp_path / "suites.toml").write_text(SUITES)

    assert suites.declared(tmp_path, "small") == ["bikes", "absent"]
    with pytest.raises(NotFound, match=r"no suite 'large'\. Suites here: small"):
        suites.declared(tmp_path, "large")


def test_no_file_has_no_suite(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="Suites here: none"):
        suites.declared(tmp_path, "small")


def test_a_file_that_is_not_valid_is_refused(tmp_path: Path) -> None:
    (tmp_path / "suites.toml").write_text("[suites.small]\n")

    with pytest.raises(BadCompetition):
        suites.declared(tmp_path, "small")
