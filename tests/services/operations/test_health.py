"""What readiness looks at leaves nothing behind."""

from __future__ import annotations

from app.services.operations.health import _storage
from app.services.runtime.context import Context
from tests.system_limits import largest_file


def test_a_probe_of_a_full_disk_is_removed(context: Context) -> None:
    with largest_file(0):
        found = _storage(context)

    assert found.startswith("the data directory cannot be written")
    assert list(context.settings.data_dir.glob("probe.*")) == []
    assert _storage(context) == "ok"
