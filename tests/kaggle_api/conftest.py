"""The API's servers, and agents with Kaggle's real clients."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.api.conftest import Podium, good, podium, server
from tests.kaggle_api.agent import Agent, basic
from tests.server import PodiumServer

__all__ = ["good", "podium", "server"]
NEW, OLD = "kaggle-2.2.4", "kaggle-1.8.4"


@pytest.fixture(scope="module")
def tiny(server: PodiumServer) -> Path:
    """One competition for all tests of a module, which have runs of their own."""
    with contextlib.ExitStack() as clients:
        return Podium(server, server.data_dir.parent / "folders", clients).competition()


@pytest.fixture
def make_agent(podium: Podium, tmp_path: Path) -> Callable[..., Agent]:
    """An agent that reaches the server by route A: its proxy is the server itself."""

    def make(key: str, client: str = NEW, credentials=basic, proxy: str = "") -> Agent:  # type: ignore[no-untyped-def]
        home = tmp_path / f"home-{client}-{len(list(tmp_path.iterdir()))}"
        home.mkdir()
        return Agent(client, home, proxy or podium.server.url, credentials(key))

    return make
