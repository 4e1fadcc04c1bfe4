"""The servers of the API's tests, for tests that look at the service as a whole."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import good, podium, server
from tests.api.conftest import own_tiny as tiny
from tests.server import PodiumServer

__all__ = ["good", "podium", "server", "tiny"]


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Callable[..., PodiumServer]]:
    """Starts a server with settings of the test's own."""
    with contextlib.ExitStack() as stack:

        def start(data: Path | None = None, url: str = "", **settings: Any) -> PodiumServer:
            server = PodiumServer(data or tmp_path / "data", url, **settings).start()
            stack.callback(server.stop)
            return server

        yield start
