"""What readiness looks at leaves nothing behind."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.services.operations import storage_probe
from app.services.operations.storage_probe import (
    PROBE_SECONDS,
    StorageState,
    probe_number,
    probe_storage,
    storage_state,
)
from app.services.runtime.context import Context
from tests.system_limits import largest_file


def test_a_probe_of_a_full_disk_is_removed(context: Context) -> None:
    with largest_file(0):
        found = probe_storage(context).detail

    assert found.startswith("the data directory cannot be written")
    assert list(context.settings.data_dir.glob("probe.*")) == []
    assert probe_storage(context).detail == "ok"


def test_the_storage_is_probed_four_times_a_second_however_many_ask(context: Context) -> None:
    """Each probe is three requests to an S3 store, which strangers could cause without a bound."""
    begun, found = -1, {""}
    while probe_number() != begun:  # on a busy machine the interval may end before the questions
        time.sleep(PROBE_SECONDS)
        begun = probe_number()
        assert storage_state(context).detail == "ok"
        with largest_file(0):
            found = {storage_state(context).detail for _ in range(20)}
    assert found == {"ok"}
    time.sleep(PROBE_SECONDS)
    with largest_file(0):
        assert storage_state(context).detail.startswith("the data directory cannot be written")


def test_requests_at_the_same_moment_probe_the_storage_once(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin, probed = threading.Barrier(16), list[StorageState]()

    def probe(context: Context) -> StorageState:
        time.sleep(0.1)  # as an S3 store, so that all of them come meanwhile
        probed.append(probe_storage(context))
        return probed[-1]

    def ask(_: int) -> str:
        begin.wait(30)
        return storage_state(context).detail

    monkeypatch.setattr(storage_probe, "probe_storage", probe)
    with ThreadPoolExecutor(16) as threads:
        assert set(threads.map(ask, range(16))) == {"ok"}
    assert len(probed) < 8


def test_where_proc_is_not_mounted_the_other_numbers_are_told() -> None:
    hide = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    if subprocess.run([*hide, "true"], capture_output=True).returncode:
        pytest.skip("only root can hide /proc")
    program = (
        "from app.services.operations.health import connection_use as use;"
        "found = use(3, 2000); print(found.open, found.most, found.descriptors, found.limit > 0)"
    )

    done = subprocess.run(
        [*hide, sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert done.stdout == "64 2000 None True\n", done.stderr
