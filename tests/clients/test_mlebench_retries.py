"""podium-mlebench behind a proxy whose refusals are of its own kind."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.clients.conftest import ROOT

CALL = """
import json, sys
from mlebench.podium import Podium
print(json.dumps(Podium(sys.argv[1], "pod_x", "", 0, 20.0)._call("GET", "/v1/x")))
"""


@pytest.mark.parametrize("named", ["Wed, 21 Oct 2026 07:28:00 GMT", "\xb2", "soon", ""])
def test_a_refusal_that_names_a_date_is_tried_again(named: str) -> None:
    answered = []

    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answered.append(self.path)
            status = 503 if len(answered) == 1 else 200
            self.send_response(status)
            if status == 503:
                self.send_header("Retry-After", named)
            self.end_headers()
            self.wfile.write(b"nicht verf\xfcgbar" if status == 503 else b'{"a": 1}')

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        done = subprocess.run(
            [sys.executable, "-c", CALL, f"http://127.0.0.1:{server.server_port}"],
            env={"PYTHONPATH": str(ROOT / "clients" / "podium-mlebench")},
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        server.shutdown()

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"a": 1}
    assert len(answered) == 2
