"""Clients of the standard library behind a proxy whose answers are of its own kind."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from app.cli.harbor.verifier import KEYS
from tests.clients.conftest import ROOT

MLE_BENCH = """
import json, sys
from mlebench.podium import Podium
print(json.dumps(Podium(sys.argv[1], "pod_x", "", 0, 20.0)._call("GET", "/v1/x")))
"""
VERIFIER = """
import json, os, sys
from pathlib import Path
os.environ |= {"PODIUM_URL": sys.argv[1], "PODIUM_KEY": "pod_x", "PODIUM_WAIT_SECONDS": "20"}
import verifier
print(json.dumps(verifier.grade("x", Path(verifier.__file__))))
"""
AIDE = """
import json, os, sys
os.environ |= {"PODIUM_URL": sys.argv[1], "PODIUM_KEY": "pod_x", "PODIUM_WAIT_SECONDS": "20"}
import send
print(json.dumps(send.podium("/v1/x")))
"""
CLIENTS = {
    MLE_BENCH: "clients/podium-mlebench", VERIFIER: "app/cli/harbor", AIDE: "examples/aide",
}  # fmt: skip
PATHS = ":".join(str(ROOT / one) for one in CLIENTS.values())
REPORT = dict.fromkeys(KEYS, False)


@contextlib.contextmanager
def proxy(*answers: tuple[int, dict[str, str], bytes]) -> Iterator[tuple[str, list[float]]]:
    """A server that gives these answers one after another; its address, and when it was asked.

    It waits as many seconds as an answer's `X-Seconds` says.
    """
    asked: list[float] = []

    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, text = answers[len(asked)]
            asked.append(time.monotonic())
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            time.sleep(float(headers.get("X-Seconds", 0)))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


def call(code: str, address: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, address], env={"PYTHONPATH": PATHS},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize("code", CLIENTS, ids=CLIENTS.values())
@pytest.mark.parametrize("named", ["Wed, 21 Oct 2026 07:28:00 GMT", "\xb2", "soon", "", "0"])
def test_a_refusal_that_names_no_pause_is_tried_again_after_one(named: str, code: str) -> None:
    refusal = 503, {"Retry-After": named}, b"nicht verf\xfcgbar"
    with proxy(refusal, (200, {}, json.dumps(REPORT).encode())) as (address, asked):
        done = call(code, address)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == REPORT
    assert asked[1] - asked[0] > 0.4


def test_mle_benchs_client_tries_again_after_a_grade_that_took_longer_than_it_waits() -> None:
    late = 503, {"X-Seconds": "1.2"}, b""
    with proxy(late, (200, {}, json.dumps(REPORT).encode())) as (address, _):
        done = call(MLE_BENCH.replace("20.0", "1.1"), address)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == REPORT


@pytest.mark.parametrize("text", [b"<html>Log in</html>", b"\xff", b"[]", b"{}"])
def test_harbors_verifier_takes_no_page_of_a_proxy_for_a_report(text: bytes) -> None:
    with proxy((200, {}, text)) as (address, _):
        done = call(VERIFIER, address)

    assert done.returncode == 1
    assert f"VerifierError: {address} is not the address of a Podium" in done.stderr
