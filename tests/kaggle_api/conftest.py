"""The API's servers, and agents with Kaggle's real clients."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.api.conftest import Podium, good, podium, server, tiny
from tests.kaggle_api.agent import Agent, basic

__all__ = ["good", "podium", "server", "tiny"]
NEW, OLD = "kaggle-2.2.5", "kaggle-1.8.4"


@pytest.fixture
def make_agent(podium: Podium, tmp_path: Path) -> Callable[..., Agent]:
    """An agent that reaches the server by route A: its proxy is the server itself."""

    def make(key: str, client: str = NEW, credentials=basic, proxy: str = "") -> Agent:  # type: ignore[no-untyped-def]
        home = tmp_path / f"home-{client}-{len(list(tmp_path.iterdir()))}"
        home.mkdir()
        return Agent(client, home, proxy or podium.server.url, credentials(key))

    return make
