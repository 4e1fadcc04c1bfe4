"""Migrations only add, so that servers of the previous version work during an upgrade."""

from __future__ import annotations

from itertools import pairwise

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import inspect

from app.storage.database import migrations
from app.storage.database.engine import make_engine

REVISIONS = [
    each.revision
    for each in reversed(
        list(ScriptDirectory.from_config(migrations.alembic_config()).walk_revisions())
    )
]


def shape(url):
    """A database's columns by table, and its constraints."""
    engine = make_engine(url, connections=1, writes=False)
    with engine.connect() as connection:
        found = inspect(connection)
        tables = found.get_table_names()
        columns = {
            table: {column["name"]: column for column in found.get_columns(table)}
            for table in tables
        }
        rules = {
            table: {
                *(
                    ("unique", *each["column_names"])
                    for each in found.get_unique_constraints(table)
                ),
                ("unique", *found.get_pk_constraint(table)["constrained_columns"]),
                *(("check", each["sqltext"]) for each in found.get_check_constraints(table)),
                *(("key", *each["constrained_columns"]) for each in found.get_foreign_keys(table)),
            }
            for table in tables
        }
    engine.dispose()
    return columns, rules


class Shapes:
    """What a database is at each revision, found in one that is upgraded when it is asked for."""

    def __init__(self, url):
        self._url = url
        self._found = {}

    def at(self, revision):
        for each in REVISIONS[len(self._found) : REVISIONS.index(revision) + 1]:
            migrations.upgrade(self._url, each)
            self._found[each] = shape(self._url)
        return self._found[revision]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def database_kind(request):
    return request.param


@pytest.fixture(scope="module")
def shapes(database_kind, request, tmp_path_factory):
    if database_kind == "sqlite":
        yield Shapes(f"sqlite:///{tmp_path_factory.mktemp('migrated') / 'empty.db'}")
        return
    server = request.getfixturevalue("postgres")
    with server.database() as name:
        yield Shapes(server.url(name))


@pytest.mark.parametrize(("old", "new"), list(pairwise(REVISIONS)))
def test_code_of_the_revision_before_finds_all_it_reads_and_may_write_what_it_wrote(
    shapes, old, new
):
    columns, rules = shapes.at(old)
    later_columns, later_rules = shapes.at(new)

    for table, before in columns.items():
        after = later_columns[table]
        for name, column in before.items():
            assert str(after[name]["type"]) == str(column["type"]), (table, name)
            assert after[name]["nullable"] >= column["nullable"], (table, name)
        added = set(after) - set(before)
        generated = {name for name in added if ("unique", name) in later_rules[table]} & {"id"}
        for name in added - generated:
            column = after[name]
            assert column["nullable"] or column["default"] is not None, (table, name)
        allowed = rules[table] | {("unique", name) for name in generated}
        assert later_rules[table] <= allowed, table
