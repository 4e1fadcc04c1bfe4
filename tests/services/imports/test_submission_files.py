"""Raw submission files are stored as runs unless something came in between."""

from __future__ import annotations

import pytest

from app.domain.states import ArchivalKind
from app.errors import Conflict
from app.importers.submission_folder import SubmissionFolder, SubmittedFile
from app.services.experiments.archiving import archive
from app.services.imports.submission_files import import_files
from app.services.runtime.context import Context
from app.storage.queries import runs
from tests.services.submissions.test_run_events import TOML
from tests.storage.make import add_version


def test_no_run_is_imported_at_a_competition_that_is_archived_meanwhile(
    context: Context,
) -> None:
    context.database.write(lambda session: add_version(session, "bikes", toml=TOML))
    attempts = [
        SubmittedFile("", f"submission.jsonl:{seed}", "bikes", seed, None, {}) for seed in (8, 9)
    ]

    def archive_then(done: int, total: int) -> None:
        archive(context, ArchivalKind.COMPETITION, "bikes", "over", by=None)

    with pytest.raises(Conflict, match="archived"):
        import_files(context, "raw", SubmissionFolder(attempts, []), archive_then)

    with context.database.read() as session:
        made = runs.list_runs(session, experiment="raw", archived=True, limit=None)
    assert [run.seed for run in made] == [8]
