"""A server in this process, for benchmarks that look into it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import uvicorn
from fastapi import FastAPI

ANSWER_SECONDS = 60.0


@contextmanager
def serving(app: FastAPI) -> Iterator[httpx.Client]:
    """A client of the application, which answers over HTTP from another thread."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, lifespan="on"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            if not thread.is_alive():
                raise RuntimeError("the server did not start; its log says why")
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        with httpx.Client(
            base_url=f"http://127.0.0.1:{port}", timeout=ANSWER_SECONDS, trust_env=False
        ) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join()
