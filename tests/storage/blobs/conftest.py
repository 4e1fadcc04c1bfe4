from __future__ import annotations

from pathlib import Path

import pytest

from app.storage.blobs.disk import DiskBlobs


@pytest.fixture
def store(tmp_path: Path) -> DiskBlobs:
    return DiskBlobs(tmp_path / "blobs")
