"""nginx and Caddy with TLS before a server, by the configurations of docs/operations.md."""

from __future__ import annotations

import contextlib
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
import yaml

from tests.api.conftest import CSV, Podium, Run
from tests.kaggle_api.agent import told
from tests.kaggle_api.test_proxy import agent_at, forwarding
from tests.server import free_port

NGINX = shutil.which("nginx") or "/usr/sbin/nginx"
CADDY = shutil.which("caddy") or "/usr/bin/caddy"
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "operations.md"
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
pytestmark = pytest.mark.parametrize("server", ["sqlite"], indirect=True)
MAIN = """
daemon off; pid {home}/pid; error_log {home}/errors;
events {{}}
http {{
    access_log off; client_body_temp_path {home}/body; proxy_temp_path {home}/proxy;
    fastcgi_temp_path {home}/fastcgi; uwsgi_temp_path {home}/uwsgi; scgi_temp_path {home}/scgi;
    {server}
}}
"""


# Ports and directories of the test's own, and no change of what this machine trusts.
OPTIONS = """
{{
    admin off
    skip_install_trust
    http_port {plain}
    https_port {port}
    storage file_system {home}
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


def block_of_page(language: str, *replacements: tuple[str, str]) -> str:
    """The page's only block of a language, with the names and ports of a test."""
    (block,) = re.findall(
        rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL
    )
    for said, own in replacements:
        assert said in block
        block = block.replace(said, own)
    return str(block)


@contextlib.contextmanager
def proxied(command: list[str], log: Path, url: str, trusted: Path | None) -> Iterator[None]:
    """Run a proxy until the end of the block; enter it when the proxy answers at `url`.

    `trusted` is the file of the certificate to trust, which the proxy may write itself.
    """
    if not Path(command[0]).exists():
        pytest.skip(f"{command[0]} is not installed; CI installs it")
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(log.parent)}
    with log.open("wb") as output, contextlib.ExitStack() as stack:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
        stack.callback(process.wait, 20)
        stack.callback(process.terminate)
        deadline = time.monotonic() + 30
        while not is_up(url, trusted):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        yield


def is_up(url: str, trusted: Path | None) -> bool:
    try:
        verify = trusted is not None and ssl.create_default_context(cafile=trusted)
        return httpx.get(f"{url}/health", verify=verify, trust_env=False).is_success
    except (httpx.TransportError, OSError):  # it listens, or makes its certificate, in a moment
        return False


@pytest.fixture
def address(podium: Podium, certificate: Path, tmp_path: Path) -> Iterator[str]:
    """The address of nginx, which forwards to the server."""
    port = free_port()
    server = block_of_page(
        "nginx",
        ("listen 443", f"listen 127.0.0.1:{port}"), ("podium.example.org", "localhost"),
        ("/etc/ssl/podium", str(certificate.with_suffix(""))),
        ("127.0.0.1:7777", f"127.0.0.1:{podium.server.port}"),
    )  # fmt: skip
    file = tmp_path / "nginx.conf"
    file.write_text(MAIN.format(home=tmp_path, server=server))
    command = [NGINX, "-e", str(tmp_path / "errors"), "-c", str(file), "-p", str(tmp_path)]
    url = f"https://localhost:{port}"
    with proxied(command, tmp_path / "nginx.log", url, certificate):
        yield url


@pytest.fixture
def caddy(podium: Podium, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The address of Caddy, and the certificate of the authority that it made for itself."""
    home, port = tmp_path / "caddy", free_port()
    home.mkdir()
    site = block_of_page(
        "caddy",
        ("podium.example.org", "localhost"),
        ("127.0.0.1:7777", f"127.0.0.1:{podium.server.port}"),
    )
    file = home / "Caddyfile"
    file.write_text(OPTIONS.format(plain=free_port(), port=port, home=home) + site)
    command = [CADDY, "run", "--config", str(file), "--adapter", "caddyfile"]
    url, authority = f"https://localhost:{port}", home / "pki/authorities/local/root.crt"
    with proxied(command, home / "log", url, authority):
        yield url, authority


def through(address: str, certificate: Path | None, run: Run) -> httpx.Client:
    return httpx.Client(
        base_url=address, headers={"Authorization": f"Bearer {run.document['key']}"},
        verify=certificate is not None and ssl.create_default_context(cafile=certificate),
        trust_env=False, timeout=60,
    )  # fmt: skip


def send_follow_and_download(client: httpx.Client, run: Run, good: bytes, slug: str) -> None:
    """Send a file, follow its events, read its grade, and read a part of a download."""
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
    part = client.get(f"/v1/competitions/{slug}/files/train.csv", headers={"Range": "bytes=0-1"})

    assert (sent.status_code, sent.json()["state"]) == (201, "graded")
    assert again.json() == sent.json()
    assert (part.status_code, part.content) == (206, b"id")


def test_submissions_streams_and_downloads_pass_through_nginx(
    podium: Podium, tiny: Path, good: bytes, address: str, certificate: Path
) -> None:
    run = podium.run(tiny, feedback="public")
    with through(address, certificate, run) as client:
        send_follow_and_download(client, run, good, tiny.name)


def test_submissions_streams_and_downloads_pass_through_caddy(
    podium: Podium, tiny: Path, good: bytes, caddy: tuple[str, Path]
) -> None:
    run = podium.run(tiny, feedback="public")
    with through(*caddy, run) as client:
        send_follow_and_download(client, run, good, tiny.name)


def test_the_command_of_the_compose_file_starts_caddy(
    podium: Podium, tiny: Path, good: bytes, tmp_path: Path
) -> None:
    """Without a name and so without TLS: for a name, Caddy would have this machine trust it."""
    port, run = free_port(), podium.run(tiny, feedback="public")
    command = COMPOSE["services"]["caddy"]["command"]
    for said, own in (
        ("${DOMAIN:-localhost}", f":{port}"),
        ("podium:7777", f"127.0.0.1:{podium.server.port}"),
    ):
        assert said in command
        command = command.replace(said, own)
    url = f"http://127.0.0.1:{port}"
    words = [CADDY, *command.split()[1:]]
    with proxied(words, tmp_path / "log", url, None), through(url, None, run) as client:
        send_follow_and_download(client, run, good, tiny.name)


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
        agent = agent_at(tmp_path, "kaggle-2.2.5", proxy)
        agent.write("s.csv", good)
        steps = [
            agent.kaggle("download", tiny.name),
            agent.kaggle("submit", tiny.name, "-f", "s.csv", "-m", "by TLS"),
            agent.kaggle("submissions", tiny.name, "-v"),
        ]

    assert [step.returncode for step in steps] == [0, 0, 0], [told(step) for step in steps]
    assert (agent.home / f"{tiny.name}.zip").exists()
    assert "by TLS" in steps[2].stdout
