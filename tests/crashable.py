"""A PostgreSQL that a test may stop and kill."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import pytest

from tests.postgres import URL, WITHOUT, NoPostgresError, OwnServer


@contextlib.contextmanager
def crashable_postgres() -> Iterator[OwnServer]:
    """One of our own; the test is skipped, and says so, where it may not or need not be started."""
    if os.environ.get(WITHOUT) == "1":
        pytest.skip(f"NOT TESTED ON POSTGRESQL, because {WITHOUT}=1")
    try:
        server = OwnServer()
    except NoPostgresError as error:
        if os.environ.get(URL):
            pytest.skip(f"NOT TESTED: the server that {URL} names cannot be stopped by tests")
        pytest.fail(str(error), pytrace=False)
    try:
        yield server
    finally:
        server.remove()
