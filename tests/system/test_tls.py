"""nginx with TLS before a server, by the configuration of docs/operations.md."""

from __future__ import annotations

import re
import shutil
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.api.conftest import CSV, Podium, Run
from tests.kaggle_api.agent import told
from tests.kaggle_api.test_proxy import agent_at, forwarding
from tests.server import free_port

NGINX = shutil.which("nginx") or "/usr/sbin/nginx"
PAGE = Path(__file__).parents[2] / "docs" / "operations.md"
pytestmark = [
    pytest.mark.skipif(not Path(NGINX).exists(), reason="nginx is not installed; CI installs it"),
    pytest.mark.parametrize("server", ["sqlite"], indirect=True),
]
MAIN = """
daemon off; pid {home}/pid; error_log {home}/errors;
events {{}}
http {{
    access_log off; client_body_temp_path {home}/body; proxy_temp_path {home}/proxy;
    fastcgi_temp_path {home}/fastcgi; uwsgi_temp_path {home}/uwsgi; scgi_temp_path {home}/scgi;
    {server}
}}
"""


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for localhost that signs itself, with its key."""
    file = tmp_path / "podium.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
         "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-out", file, "-keyout",
         file.with_suffix(".key")],
        check=True, capture_output=True,
    )  # fmt: skip
    return file


@pytest.fixture
def address(podium: Podium, certificate: Path, tmp_path: Path) -> Iterator[str]:
    """The address of nginx, which forwards to the server."""
    (block,) = re.findall(r"^```nginx\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    port = free_port()
    for said, own in (
        ("listen 443", f"listen 127.0.0.1:{port}"), ("podium.example.org", "localhost"),
        ("/etc/ssl/podium", str(certificate.with_suffix(""))),
        ("127.0.0.1:7777", f"127.0.0.1:{podium.server.port}"),
    ):  # fmt: skip
        assert said in block
        block = block.replace(said, own)
    file = tmp_path / "nginx.conf"
    file.write_text(MAIN.format(home=tmp_path, server=block))
    process = subprocess.Popen([NGINX, "-e", tmp_path / "errors", "-c", file, "-p", tmp_path])
    url = f"https://localhost:{port}"
    trusted = ssl.create_default_context(cafile=certificate)
    deadline = time.monotonic() + 20
    while True:
        try:
            assert httpx.get(f"{url}/health", verify=trusted, trust_env=False).is_success
            break
        except httpx.ConnectError:
            assert time.monotonic() < deadline, (tmp_path / "errors").read_text()
            time.sleep(0.05)
    yield url
    process.terminate()
    process.wait(20)


def through(address: str, certificate: Path, run: Run) -> httpx.Client:
    return httpx.Client(
        base_url=address, headers={"Authorization": f"Bearer {run.document['key']}"},
        verify=ssl.create_default_context(cafile=certificate), trust_env=False, timeout=60,
    )  # fmt: skip


def test_submissions_streams_and_downloads_pass(
    podium: Podium, tiny: Path, good: bytes, address: str, certificate: Path
) -> None:
    run = podium.run(tiny, feedback="public")
    with through(address, certificate, run) as client:
        seen: list[str] = []
        with client.stream("GET", f"/v1/runs/{run.id}/events") as events:

            def read() -> None:
                for line in events.iter_lines():
                    seen.append(line)
                    if "graded" in line:
                        return

            reader = threading.Thread(target=read)
            reader.start()
            sent = client.post(
                f"/v1/runs/{run.id}/submissions", content=good,
                headers={**CSV, "Prefer": "wait=30"},
            )  # fmt: skip
            reader.join(30)
            assert any("graded" in line for line in seen), seen
        again = client.get(sent.headers["Location"])
        part = client.get(
            f"/v1/competitions/{tiny.name}/files/train.csv", headers={"Range": "bytes=0-1"}
        )

    assert (sent.status_code, sent.json()["state"]) == (201, "graded")
    assert again.json() == sent.json()
    assert (part.status_code, part.content) == (206, b"id")


def test_kaggles_client_passes_by_podium_proxy(
    podium: Podium,
    tiny: Path,
    good: bytes,
    address: str,
    certificate: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = podium.run(tiny, feedback="public")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with forwarding(address, run.document["key"], tmp_path, free_port()) as proxy:
        agent = agent_at(tmp_path, "kaggle-2.2.4", proxy)
        agent.write("s.csv", good)
        steps = [
            agent.kaggle("download", tiny.name),
            agent.kaggle("submit", tiny.name, "-f", "s.csv", "-m", "by TLS"),
            agent.kaggle("submissions", tiny.name, "-v"),
        ]

    assert [step.returncode for step in steps] == [0, 0, 0], [told(step) for step in steps]
    assert (agent.home / f"{tiny.name}.zip").exists()
    assert "by TLS" in steps[2].stdout
