"""`podium selection`, `curve` and `pass-at-k` as a researcher types them, on graded runs."""

from __future__ import annotations

import json
from pathlib import Path

from tests.api.conftest import packed
from tests.api.test_selection import halves
from tests.distributed.cluster import is_settled, wait_until
from tests.factories import write_competition
from tests.forkserver import run_podium
from tests.server import PodiumServer


def test_what_choosing_cost_is_printed(tmp_path: Path) -> None:
    server = PodiumServer(tmp_path / "data").start()
    folder = write_competition(tmp_path / "one")
    with server.client() as admin:
        admin.post("/v1/competitions", files={"archive": ("a.tar.gz", packed(folder))})
        admin.post("/v1/experiments", json={"name": "e", "agent": "a", "model": "m"})
        body = {"experiment": "e", "competition": "one", "seed": 0}
        run = admin.post("/v1/runs", json=body).json()
        for public, private in ((0.5, 0.0), (0.0, 0.5)):
            one = admin.post(
                f"/v1/runs/{run['id']}/submissions",
                content=halves(folder, public=public, private=private),
                headers={"Content-Type": "text/csv", "Authorization": f"Bearer {run['key']}"},
            ).json()
            wait_until(admin, one["id"], is_settled)
    server.stop()

    def podium(*words: str) -> str:
        return run_podium(
            words, env=server.environment, check=True, capture_output=True, text=True, timeout=120
        ).stdout

    found = json.loads(podium("selection", "e", "--format", "json"))
    assert [one["medals"]["regret"] for one in found["choices"]] == [100.0, 100.0, 100.0]
    text = podium("selection", "e", "--format", "latex")
    assert "best-public & any medal (\\%) & 0.00 & 100.00 & 100.00" in text
    assert "% Podium" in text.splitlines()[-1]
    assert "100.00 points below the oracle" in podium("curve", "e")
    assert "chosen by public score" in podium("pass-at-k", "e")
