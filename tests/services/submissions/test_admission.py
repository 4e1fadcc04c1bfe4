"""Who admits submissions reads no files, and needs one connection at a time."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from app.domain.states import ArchivalKind, Role, RunState
from app.errors import PodiumError
from app.services.experiments.archiving import archive
from app.services.new_keys import new_key
from app.services.runtime.catalogue import Catalogue
from app.services.runtime.context import Context, open_context
from app.services.submissions.submit import Admission, Sender, admit, admit_all, open_run
from app.settings import Settings
from app.storage.database.records import RunRecord
from app.storage.queries import keys, runs
from tests.services.submissions.conftest import readable_version
from tests.services.submissions.test_run_events import TOML
from tests.storage.make import NOON, add_run, add_version
from tests.storage.statements import sent_statements


def test_an_admission_reads_no_files_and_needs_one_connection(
    migrated_sqlite: Path, tmp_path: Path
) -> None:
    file = shutil.copyfile(migrated_sqlite, tmp_path / "podium.db")
    settings = Settings(
        data_dir=tmp_path / "data", database_url=f"sqlite:///{file}", database_connections=1,
        database_patience_seconds=1,
    )  # fmt: skip
    context = open_context(settings, grades=False, validates=False)
    try:
        version = context.database.write(lambda s: add_version(s, "bikes", toml=TOML))
        run = add_run(context.database, version, "first")
        key, record = new_key(Role.RUN, "of the run", run_id=run.id)
        context.database.write(lambda session: keys.add_key(session, record))

        with sent_statements() as statements:
            caller, admitted = admit(context, Sender(key, run.id, None))
            # As if 256 other versions had taken its place.
            new = Catalogue(context.catalogue.files, settings.competitions_dir, context.database)
            opened = open_run(replace(context, catalogue=new), caller, run.id)
    finally:
        context.close()

    assert (admitted.id, opened.id) == (run.id, run.id)
    assert not [one for one in statements if "version_file" in one]


def test_each_of_a_group_gets_what_it_would_get_alone(context: Context) -> None:
    version = readable_version(context, "bikes")
    first, second, closed, archived = (
        add_run(context.database, version, name) for name in ("first", "second", "closed", "gone")
    )

    def key(role: Role, run: RunRecord | None = None, **over: datetime) -> str:
        secret, record = new_key(role, role.value, run_id=None if run is None else run.id)
        context.database.write(lambda session: keys.add_key(session, replace(record, **over)))
        return secret

    context.database.write(
        lambda session: runs.update_run(
            session, closed.id, state=RunState.CLOSED, closed_at=NOON, started_at=NOON
        )
    )
    archive(context, ArchivalKind.RUN, archived.id, "moved", by=None)
    own, other = key(Role.RUN, first), key(Role.RUN, second)
    everywhere = key(Role.RESEARCHER)
    revoked, of_archived = key(Role.RUN, first, revoked_at=NOON), key(Role.RUN, archived)
    senders = [
        Sender(own, first.id, None),
        Sender(other, first.id, None),
        Sender(other, "run_\0none", None),
        Sender(everywhere, first.id, None),
        Sender(everywhere, "run_none", None),
        Sender(everywhere, closed.id, None),
        Sender(everywhere, closed.id, "again"),
        Sender(revoked, first.id, None),
        Sender(of_archived, archived.id, None),
        Sender("pod_run_unknown", first.id, None),
        Sender("pod_run_unknown", "run_\0none", None),
        Sender(None, first.id, None),
        Sender("", second.id, None),
    ]
    found = admit_all(context, senders)
    assert [_outcome(one) for one in found] == [
        (Role.RUN, first.id), "NotFound", "NotFound",
        (Role.RESEARCHER, first.id), "NotFound", "RunClosed", (Role.RESEARCHER, closed.id),
        "Unauthorized", "RunArchived", "Unauthorized", "Unauthorized", "Unauthorized",
        "Unauthorized",
    ]  # fmt: skip
    alone = [admit_all(context, [one])[0] for one in senders]
    assert [_outcome(one) for one in alone] == [_outcome(one) for one in found]
    with context.database.read() as session:
        existing = runs.get_runs(session, {one.id for one in (first, second, archived)})
    assert {one.id for one in existing.values() if one.started_at} == {first.id, second.id}


def _outcome(one: Admission | PodiumError) -> tuple[Role, str] | str:
    return type(one).__name__ if isinstance(one, PodiumError) else (one[0].role, one[1].id)
