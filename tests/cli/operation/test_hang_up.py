"""A server whose terminal closes ends in order, and one under nohup goes on."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.server import PodiumServer


def test_a_server_whose_terminal_closes_ends_in_order(tmp_path: Path) -> None:
    server = PodiumServer(tmp_path / "data", graders=1).start()
    with server.client() as admin:
        assert admin.get("/healthz").status_code == 200

        server.process.send_signal(signal.SIGHUP)
        time.sleep(0.2)
        server.process.send_signal(signal.SIGHUP)

    status = server.process.wait(30)
    server.kill()  # clears it away

    assert status == 0
    assert not (server.data_dir / "podium.db-wal").exists()  # the database was closed


def test_nohup_keeps_its_meaning() -> None:
    program = (
        "import signal; from app.cli.operation.hang_up import end_at_hang_up; end_at_hang_up();"
        "signal.raise_signal(signal.SIGHUP); print('goes on')"
    )
    done = subprocess.run(
        ["nohup", sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout == "goes on\n"
