"""What all tests may use. Every test on a database runs on SQLite and on PostgreSQL.

The fixtures import what they need when a test asks for them: pytest loads this file for every
test, and most tests need no database.
"""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from app.graders.runtime_env import ONE_THREAD

if TYPE_CHECKING:
    from app.storage.database.database import Database
    from tests.postgres import Postgres
    from tests.s3 import S3Server


MEMORY = Path("/dev/shm")  # a file system in memory, where Linux has one
FREE_BYTES = 6 * 1024**3  # more than a run of all tests writes
FEW_EXAMPLES = "few-examples"  # the profile of Hypothesis with which `make quick` runs


def pytest_configure(config: pytest.Config) -> None:
    """Let programs that tests start keep what they compile, and choose a place for their files."""
    # Else each process of pytest and each program would compile all of Podium again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    # Several processes share the cores: threads of one computation would spin while they wait for
    # one another, which made a model of 8,000 rows take 18 times its processor time.
    os.environ |= ONE_THREAD
    use_memory(config)
    if config.getoption("--hypothesis-profile") == FEW_EXAMPLES:
        from hypothesis import settings

        settings.register_profile(FEW_EXAMPLES, max_examples=20)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order the tests of a parallel run."""
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if processes > 1:
        from tests.order_of_tests import arrange

        items[:] = arrange(items, processes)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Load the tests without garbage collection: nearly all that is loaded stays.

    To look for garbage took a third of the time, in each process of a parallel run.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Let the garbage collector skip what was loaded until now: it stays to the end."""
    gc.freeze()


def use_memory(config: pytest.Config) -> None:
    """Put what tests write into memory, where there is room: they wait for the disk a lot.

    A test's files are synced as in use; only the disk's time for it is gone. `--basetemp` and
    PYTEST_DEBUG_TEMPROOT choose another place.
    """
    if config.option.basetemp or "PYTEST_DEBUG_TEMPROOT" in os.environ or not MEMORY.is_dir():
        return
    if os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:  # some tests run programs that they write
        return
    if min(shutil.disk_usage(MEMORY).free, available_memory()) > FREE_BYTES:
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(MEMORY)


def available_memory() -> int:
    """How many bytes of memory are free or can be freed: proc(5); 0 where nothing says so."""
    facts = Path("/proc/meminfo")
    lines = facts.read_text().splitlines() if facts.exists() else []
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server, one per worker of pytest-xdist."""
    from tests.postgres import WITHOUT, NoPostgresError, any_server

    if os.environ.get(WITHOUT) == "1":
        pytest.skip(f"NOT TESTED ON POSTGRESQL, because {WITHOUT}=1")
    try:
        with any_server() as server:
            yield server
    except NoPostgresError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def migrated_postgres(postgres: Postgres) -> Iterator[str]:
    """The name of a migrated PostgreSQL database to copy."""
    from app.storage.database import migrations

    with postgres.database() as name:
        migrations.upgrade(postgres.url(name))
        yield name


@pytest.fixture(scope="session")
def migrated_sqlite() -> Path:
    """A migrated SQLite file to copy."""
    from tests.migrated import migrated_sqlite

    return migrated_sqlite()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_kind(request: pytest.FixtureRequest) -> str:
    """The database a test runs on: each in turn."""
    return request.param


@pytest.fixture
def database_url(
    database_kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[str]:
    """The URL of a database of the test's own, migrated and without rows."""
    if database_kind == "sqlite":
        shutil.copy(request.getfixturevalue("migrated_sqlite"), tmp_path / "podium.db")
        yield f"sqlite:///{tmp_path / 'podium.db'}"
        return
    server = request.getfixturevalue("postgres")
    with server.emptied(request.getfixturevalue("migrated_postgres")) as name:
        yield server.url(name)


@pytest.fixture
def empty_database_url(
    database_kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[str]:
    """The URL of a database of the test's own, without tables."""
    if database_kind == "sqlite":
        yield f"sqlite:///{tmp_path / 'empty.db'}"
        return
    server = request.getfixturevalue("postgres")
    with server.database() as name:
        yield server.url(name)


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """A migrated database without rows, open."""
    from app.storage.database.database import Database

    opened = Database(database_url)
    yield opened
    opened.close()


@pytest.fixture
def empty_postgres(postgres: Postgres) -> Iterator[str]:
    """The name of a PostgreSQL database of the test's own, without tables."""
    with postgres.database() as name:
        yield name


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """An S3 server, one per worker of pytest-xdist. Who stops it takes `own_s3`."""
    from tests.s3 import S3Server

    server = S3Server(tmp_path_factory.mktemp("s3") / "server").start()
    yield server
    server.stop()


@pytest.fixture
def own_s3(tmp_path: Path) -> Iterator[S3Server]:
    """An S3 server of the test's own, started, to be stopped and started again."""
    from tests.s3 import S3Server

    server = S3Server(tmp_path / "s3").start()
    yield server
    server.stop()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what tests counted, beside whether they passed, and how many PostgreSQL would need."""
    without = sum(
        "NOT TESTED ON POSTGRESQL" in str(report.longrepr)
        for report in terminalreporter.getreports("skipped")
    )
    if without:
        terminalreporter.write_line(
            f"NOT TESTED ON POSTGRESQL: {without} tests were skipped, because "
            "PODIUM_TEST_WITHOUT_POSTGRES=1",
            yellow=True,
        )
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, value in report.user_properties:
            if name == "counts" and report.when == "call":
                test = report.nodeid.rpartition("::")[2]
                terminalreporter.write_line(f"{test}: {value}")
