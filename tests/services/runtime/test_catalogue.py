"""What is kept of a competition version is never shown as that of another one."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import text

from app.services.competitions.import_folder import import_folder
from app.services.runtime.context import Context
from tests.factories import write_competition


def test_a_record_that_was_read_before_its_id_was_given_again_changes_nothing(
    context: Context, tmp_path: Path
) -> None:
    """As where a standby takes over that lacks an import, and a thread has read its record."""
    lost = import_folder(context, write_competition(tmp_path / "lost")).version
    rows = {"sample_score": "version_id", "version_file": "version_id", "competition_version": "id"}
    for table, column in rows.items():
        delete = text(f"DELETE FROM {table} WHERE {column} = {lost.id}")
        context.database.write(lambda session, delete=delete: session.execute(delete))
    context.catalogue.entry(lost)
    with context.catalogue.files.lease(lost, answers=True) as lease:
        files_of_lost = lease.path

    other = import_folder(context, write_competition(tmp_path / "other")).version

    assert other.id == lost.id
    assert context.catalogue.of_version(other.id).competition.slug == "other"
    with context.catalogue.files.lease(other, answers=True) as lease:
        assert lease.path != files_of_lost
