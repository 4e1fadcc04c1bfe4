"""The event loop's thread reads no database: everybody's requests would wait for it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings
from benchmarks.in_process import serving
from tests.api.conftest import packed
from tests.factories import good_submission, write_competition
from tests.migrated import make_data_directory
from tests.storage.statements import each_statement

Noted = Callable[[str], None]


@contextlib.contextmanager
def statements_of_loops(note: Noted = lambda text: None) -> Iterator[list[str]]:
    """The SQL that threads with a running event loop execute meanwhile; all is told to `note`."""
    found: list[str] = []

    def executed(text: str) -> None:
        note(text)
        with contextlib.suppress(RuntimeError):
            asyncio.get_running_loop()
            found.append(text)

    with each_statement(executed):
        yield found


@pytest.fixture
def keys() -> list[str]:
    return []


@pytest.fixture
def app(tmp_path: Path, keys: list[str]) -> FastAPI:
    make_data_directory(tmp_path / "data")
    settings = Settings(
        data_dir=tmp_path / "data", competitions_dir=tmp_path / "none", graders=1
    )  # fmt: skip
    return create_app(settings, lambda key: keys.append(key or ""))


def test_requests_that_need_a_version_read_it_in_threads(
    app: FastAPI, keys: list[str], tmp_path: Path
) -> None:
    folder = write_competition(tmp_path / "tiny")
    archive = {"archive": ("tiny.tar.gz", packed(folder), "application/gzip")}

    def forget(text: str) -> None:
        """Let other versions take this one's place in the cache after it was admitted."""
        if text.startswith("INSERT INTO submission "):
            app.state.context.catalogue._entries.clear()  # noqa: SLF001
            app.state.context.catalogue._versions.clear()  # noqa: SLF001

    with serving(app) as client:
        client.headers["Authorization"] = f"Bearer {keys[0]}"
        with statements_of_loops() as while_imported:
            imported = client.post("/v1/competitions", files=archive)
        experiment = {"name": "one", "agent": "an-agent", "model": "a-model"}
        assert client.post("/v1/experiments", json=experiment).status_code == 201
        body = {"experiment": "one", "competition": "tiny", "seed": 0, "feedback": "full"}
        run = client.post("/v1/runs", json=body).json()
        with statements_of_loops(forget) as while_sent:
            sent = client.post(
                f"/v1/runs/{run['id']}/submissions",
                content=good_submission(folder),
                headers={"Content-Type": "text/csv", "Authorization": f"Bearer {run['key']}"},
            )

    assert (imported.status_code, imported.json()["slug"]) == (201, "tiny")
    assert while_imported == []
    assert sent.status_code == 202
    assert while_sent == []
