"""What readiness looks at leaves nothing behind."""

from __future__ import annotations

import time

from app.services.operations.health import PROBE_SECONDS, _kept_storage, _storage
from app.services.runtime.context import Context
from tests.system_limits import largest_file


def test_a_probe_of_a_full_disk_is_removed(context: Context) -> None:
    with largest_file(0):
        found = _storage(context)

    assert found.startswith("the data directory cannot be written")
    assert list(context.settings.data_dir.glob("probe.*")) == []
    assert _storage(context) == "ok"


def test_the_storage_is_probed_four_times_a_second_however_many_ask(context: Context) -> None:
    """Each probe is three requests to an S3 store, which strangers could cause without a bound."""

    def interval() -> int:
        return int(time.monotonic() / PROBE_SECONDS)

    begun, found = -1, {""}
    while interval() != begun:  # on a busy machine the interval may end before the questions
        time.sleep(PROBE_SECONDS)
        begun = interval()
        assert _kept_storage(context) == "ok"
        with largest_file(0):
            found = {_kept_storage(context) for _ in range(20)}
    assert found == {"ok"}
    time.sleep(PROBE_SECONDS)
    with largest_file(0):
        assert _kept_storage(context).startswith("the data directory cannot be written")
