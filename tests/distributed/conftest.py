"""A cluster per test, on a database of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.crashable import crashable_postgres
from tests.distributed.cluster import Cluster, cluster
from tests.distributed.judge import Judge, slow_competition
from tests.graders.pool import FolderPool
from tests.postgres import OwnServer, Postgres
from tests.s3 import S3Server


@pytest.fixture(scope="package")
def lasting(
    postgres: Postgres,
    migrated_postgres: str,
    s3: S3Server,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Cluster]:
    """Two servers in queue mode, one pair per worker of pytest-xdist."""
    home = tmp_path_factory.mktemp("cluster")
    with (
        postgres.database(migrated_postgres) as name,
        cluster(postgres.url(name), home, s3) as made,
    ):
        yield made


@pytest.fixture
def two_servers(lasting: Cluster) -> Iterator[Cluster]:
    """Two servers in queue mode, with an empty queue and no worker yet."""
    yield lasting
    lasting.clear()


@pytest.fixture
def unserved(
    postgres: Postgres, migrated_postgres: str, s3: S3Server, tmp_path: Path
) -> Iterator[Cluster]:
    """The same without its servers: for workers that never get so far as to grade."""
    with (
        postgres.database(migrated_postgres) as name,
        cluster(postgres.url(name), tmp_path, s3, starts=False) as made,
    ):
        yield made


@pytest.fixture
def own_postgres() -> Iterator[OwnServer]:
    """A PostgreSQL that a test may crash."""
    with crashable_postgres() as server:
        yield server


@pytest.fixture(scope="package")
def lasting_judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    """A judge with one grader, to which nothing happens."""
    with FolderPool(processes=1, seconds=60, memory_mb=1024, cache_mb=64, validators=0) as pool:
        pool.warm_up()
        yield Judge(pool, tmp_path_factory.mktemp("undisturbed"))


@pytest.fixture
def judge(lasting_judge: Judge, record_property: Callable[[str, object], None]) -> Judge:
    """Says at the end of the tests what it counted."""
    lasting_judge.record = record_property
    return lasting_judge


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    """A competition that takes its time with a file."""
    return slow_competition(tmp_path)
