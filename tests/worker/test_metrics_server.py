"""The port of a worker's metrics: no client of it keeps another waiting."""

from __future__ import annotations

import contextlib
import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from app.services.runtime.context import open_context
from app.settings import Settings
from app.worker import metrics_server
from app.worker.metrics_server import MOST_CONNECTIONS, serve_metrics


@pytest.fixture
def url(migrated_sqlite: Path, tmp_path: Path) -> Iterator[str]:
    file = shutil.copyfile(migrated_sqlite, tmp_path / "podium.db")
    settings = Settings(data_dir=tmp_path / "data", database_url=f"sqlite:///{file}")
    context = open_context(settings, grades=False, validates=False)
    yield serve_metrics(context, 0)
    context.close()


@pytest.mark.skipif(not Path("/proc/net/if_inet6").exists(), reason="there is no IPv6 here")
def test_metrics_have_an_address_of_ipv6(migrated_sqlite: Path, tmp_path: Path) -> None:
    file = shutil.copyfile(migrated_sqlite, tmp_path / "podium.db")
    settings = Settings(data_dir=tmp_path / "data", database_url=f"sqlite:///{file}", host="::1")
    context = open_context(settings, grades=False, validates=False)
    try:
        url = serve_metrics(context, 0)
        assert url.startswith("http://[::1]:")
        assert "python_info" in httpx.get(url, trust_env=False, timeout=5).text
    finally:
        context.close()


def connect(url: str) -> socket.socket:
    address = urlsplit(url)
    return socket.create_connection((address.hostname, address.port), 10)


@pytest.mark.parametrize("number", [1, 2 * MOST_CONNECTIONS])
def test_silent_clients_keep_no_other_from_the_metrics(url: str, number: int) -> None:
    with contextlib.ExitStack() as open_ones:
        for _ in range(number):
            silent = open_ones.enter_context(connect(url))
            silent.sendall(b"GET /metrics HTTP/1.1\r\nA: ")

        answer = httpx.get(url, trust_env=False, timeout=5)

    assert "python_info" in answer.text


def test_hundreds_of_clients_leave_the_worker_its_files(url: str) -> None:
    """A grading waited for a quarter of a minute, for `Too many open files`."""
    opened = set(Path("/proc/self/fd").iterdir())
    most = 0
    with contextlib.ExitStack() as open_ones:
        for number in range(1, 301):
            with contextlib.suppress(ConnectionError):
                open_ones.enter_context(connect(url)).sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
            most = max(most, len(set(Path("/proc/self/fd").iterdir()) - opened) - number)

    assert most < 5 * MOST_CONNECTIONS


def test_a_client_that_sends_a_byte_now_and_then_is_cut_off(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics_server, "CONNECTION_SECONDS", 0.1)
    deadline = time.monotonic() + 20
    is_open = True
    with connect(url) as slow:
        while is_open and time.monotonic() < deadline:
            try:
                slow.sendall(b"x")
            except ConnectionError:
                is_open = False
            time.sleep(0.05)

    assert not is_open
