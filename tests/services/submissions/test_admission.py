"""Who admits submissions reads no files, and needs one connection at a time."""

from __future__ import annotations

import shutil
from pathlib import Path

from sqlalchemy import event

from app.domain.states import Role
from app.services.auth import new_key
from app.services.runtime.context import open_context
from app.services.submissions.submit import Sender, admit, open_run
from app.settings import Settings
from app.storage.queries import keys
from tests.services.submissions.test_run_events import TOML
from tests.storage.make import add_run, add_version


def test_an_admission_reads_no_files_and_needs_one_connection(
    migrated_sqlite: Path, tmp_path: Path
) -> None:
    file = shutil.copyfile(migrated_sqlite, tmp_path / "podium.db")
    settings = Settings(
        data_dir=tmp_path / "data", database_url=f"sqlite:///{file}", database_connections=1,
        database_patience_seconds=1,
    )  # fmt: skip
    context = open_context(settings, grades=False, validates=False)
    statements: list[str] = []
    try:
        version = context.database.write(lambda s: add_version(s, "bikes", toml=TOML))
        run = add_run(context.database, version, "first")
        key, record = new_key(Role.RUN, "of the run", run_id=run.id)
        context.database.write(lambda session: keys.add_key(session, record))
        event.listen(
            context.database._reading, "before_cursor_execute",
            lambda _, __, statement, *___: statements.append(statement),
        )  # fmt: skip

        caller, admitted = admit(context, Sender(key, run.id, None))
        context.catalogue._declarations.clear()
        context.catalogue._versions.clear()
        opened = open_run(context, caller, run.id)
    finally:
        context.close()

    assert (admitted.id, opened.id) == (run.id, run.id)
    assert not [one for one in statements if "version_file" in one]
