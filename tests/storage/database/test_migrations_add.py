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
    for each in reversed(list(ScriptDirectory.from_config(migrations._config()).walk_revisions()))
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


@pytest.mark.parametrize(("old", "new"), list(pairwise(REVISIONS)))
def test_code_of_the_revision_before_finds_all_it_reads_and_may_write_what_it_wrote(
    empty_database_url, old, new
):
    migrations.upgrade(empty_database_url, old)
    columns, rules = shape(empty_database_url)
    migrations.upgrade(empty_database_url, new)
    later_columns, later_rules = shape(empty_database_url)

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
