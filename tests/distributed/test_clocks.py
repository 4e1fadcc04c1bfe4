"""The database's clock is days ahead: what is timed between machines goes by it alone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from tests.distributed.cluster import Cluster, await_that, cluster, is_grading, wait_until
from tests.distributed.judge import Judge, one_of
from tests.postgres import Postgres
from tests.s3 import S3Server

# Found before PostgreSQL's own by every session of the database, ours and the queue's.
OTHER_CLOCK = """
CREATE SCHEMA clock;
CREATE FUNCTION clock.now() RETURNS timestamptz LANGUAGE sql STABLE
    AS $$ SELECT pg_catalog.now() + interval '3 days' $$;
ALTER DATABASE {name} SET search_path = public, clock, pg_catalog;
"""


@pytest.fixture
def skewed(
    postgres: Postgres, migrated_postgres: str, s3: S3Server, tmp_path: Path
) -> Iterator[Cluster]:
    with postgres.database(migrated_postgres) as name:
        with psycopg.connect(postgres.url(name), autocommit=True) as connection:
            connection.execute(OTHER_CLOCK.format(name=name))
        with cluster(postgres.url(name), tmp_path, s3) as made:
            yield made


def test_claims_and_signs_of_life_go_by_the_databases_clock(
    skewed: Cluster, judge: Judge, slow: Path
) -> None:
    run, files = skewed.set_up(slow), [one_of(slow, 3, 0.001)]
    victim = skewed.worker().start()
    with skewed.servers[0].client() as admin:
        await_that(
            lambda: "are alive" in admin.get("/readyz").json()["workers"],
            "a living worker is taken for dead",
        )
        sent = skewed.submit_all(run, files)
        wait_until(admin, sent[0], is_grading)
        claimed, now = skewed.query("SELECT claimed_at, now() FROM submission")[0]
        victim.kill()
        skewed.worker().start()

    judge.assert_right(skewed, sent, files)
    assert now - datetime.now(UTC) > timedelta(days=2)
    assert timedelta() <= now - claimed < timedelta(hours=1)
    assert skewed.query("SELECT attempts FROM submission") == [(2,)]
    await_that(lambda: skewed.jobs() == 0, "the job stays in the queue")
