"""A cluster per test, on a database of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.distributed.cluster import Cluster, cluster
from tests.postgres import URL, WITHOUT, NoPostgresError, OwnServer, Postgres


@pytest.fixture
def two_servers(postgres: Postgres, tmp_path: Path) -> Iterator[Cluster]:
    """Two servers in queue mode, and no worker yet."""
    with postgres.database() as name, cluster(postgres.url(name), tmp_path) as made:
        yield made


@pytest.fixture
def own_postgres() -> Iterator[OwnServer]:
    """A PostgreSQL that a test may crash."""
    if os.environ.get(WITHOUT) == "1":
        pytest.skip(f"NOT TESTED ON POSTGRESQL, because {WITHOUT}=1")
    try:
        server = OwnServer()
    except NoPostgresError as error:
        if os.environ.get(URL):
            pytest.skip(f"NOT TESTED: the server that {URL} names cannot be crashed by tests")
        pytest.fail(str(error), pytrace=False)
    yield server
    server.remove()
