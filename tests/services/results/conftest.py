from __future__ import annotations

import pytest

from app.services.runtime.context import Context
from app.storage.database.records import VersionRecord
from tests.services.submissions.conftest import readable_version


@pytest.fixture
def bikes(context: Context) -> VersionRecord:
    """A competition whose lowest score is the best."""
    return readable_version(context, "bikes")
