"""An import that cannot begin keeps no other from beginning."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.services.competitions.import_jobs import ImportJobs
from app.services.runtime.context import Context
from tests.system_limits import no_more_threads


def test_an_import_without_a_thread_is_not_going_on(context: Context, tmp_path: Path) -> None:
    jobs, archive = ImportJobs(), tmp_path / "archive"
    archive.write_bytes(b"no archive")

    with no_more_threads(), pytest.raises(RuntimeError, match="can't start new thread"):
        jobs.start(context, tmp_path, archive)

    jobs.require_idle()
    assert jobs.latest() == []
    jobs.close()
