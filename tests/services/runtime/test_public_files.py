"""The list of public files, which may be long, is read and serialized once."""

from __future__ import annotations

import json

from sqlalchemy import event

from app.services.runtime import public_files
from app.services.runtime.context import Context
from tests.services.submissions.test_run_events import TOML
from tests.storage.make import add_version


def test_the_files_of_a_version_are_read_once(context: Context) -> None:
    version = context.database.write(lambda session: add_version(session, "bikes", toml=TOML))
    statements: list[str] = []
    event.listen(
        context.database._reading, "before_cursor_execute",
        lambda _, __, statement, *___: statements.append(statement),
    )  # fmt: skip

    first = context.catalogue.public_files.of(version.id)
    for _ in range(3):
        context.catalogue.version(version.id)
        assert context.catalogue.public_files.of(version.id) is first

    assert sum("competition_version.files" in one for one in statements) == 1
    assert json.loads(first.json) == first.rows == list(first.by_name.values())


def test_a_version_with_more_files_than_are_kept_is_kept_alone(context: Context) -> None:
    files = context.catalogue.public_files
    large = public_files.PublicFiles([{}] * (public_files.CACHED_FILES + 1))
    files._known[1] = public_files.PublicFiles([])

    files._known[2] = large

    assert list(files._known) == [2]
    assert files.of(2) is large
