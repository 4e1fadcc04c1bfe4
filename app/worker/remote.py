"""A worker on any machine: waits for its database, serves the queue, and leaves in good order."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from app.errors import Conflict, PodiumError, Unavailable
from app.queue.consumer import Consumer, ConsumerConfig
from app.queue.sizes import QUEUES, SMALL, share
from app.services.grading import recovery
from app.services.runtime import environment
from app.services.runtime.blob_store import require_store
from app.services.runtime.context import Context, open_context
from app.services.runtime.environment import OtherEnvironment
from app.settings import Settings
from app.storage.database import migrations
from app.storage.database.errors import is_outage
from app.worker.deliveries import Deliveries
from app.worker.metrics_server import serve_metrics

log = logging.getLogger("podium.worker")
WAIT_SECONDS = 1.0  # between looks for a database that is not there, or not migrated yet
SAY_EVERY = 30  # looks


class NoQueue(Conflict):
    """There is no queue for this worker."""


class UnknownQueue(Conflict):
    """There is no such queue."""


@dataclass(frozen=True)
class WorkerConfig:
    """What one worker is for: its queues, and how many submissions it takes on at once.

    `adopt` makes its environment the one that grades here; `metrics_port` shows its metrics.
    """

    queues: tuple[str, ...] = QUEUES
    concurrency: int | None = None
    adopt: bool = False
    metrics_port: int | None = None


def run_worker(settings: Settings, post: WorkerConfig, on_ready: Callable[[str], None]) -> None:
    """Serve the queue until SIGTERM or SIGINT, then drain; a second signal ends the process.

    Raises:
        NoQueue, UnknownQueue: the settings or the post make no sense.
        OtherEnvironment: this worker's grades could differ from those that are made here.
        PortInUse: its metrics cannot be shown there.
        GradingFault: no grader can be started.
        BadSettings, StoreAway: the store of files cannot be used.
    """
    if not settings.queues:
        raise NoQueue(
            "PODIUM_DISPATCH is embedded: servers with this setting grade for themselves, and "
            "there is nothing for a worker to do. Set PODIUM_DISPATCH=queue for both."
        )
    unknown = [queue for queue in post.queues if queue not in QUEUES]
    if unknown or not post.queues:
        raise UnknownQueue(
            f"there is no queue {', '.join(unknown) or '(none named)'}; there are: "
            + ", ".join(QUEUES)
        )
    require_store(settings)
    context = open_context(settings, grades=True)
    try:
        if post.metrics_port is not None:
            log.info("metrics", extra={"url": serve_metrics(context, post.metrics_port)})
        _await_schema(context)
        environment.agree(context.database, adopt=post.adopt)
        context.graders.warm_up()
        asyncio.run(_Remote(context, post, on_ready).serve())
    finally:
        context.close()


def _await_schema(context: Context) -> None:
    """Wait until the database is there and has this Podium's schema.

    Raises:
        NoQueue: the schema is newer than this Podium: waiting would not help.
    """
    looks = 0
    while True:
        try:
            state = migrations.state(context.database)
            if state == "current":
                return
            if state == "newer":
                raise NoQueue(
                    "the database's schema is newer than this Podium: install the version that "
                    "its servers run."
                )
            trouble = (
                "its schema is older than this Podium: start a server of this version, or run "
                "`podium db upgrade`"
            )
        except Unavailable as error:
            cause = error.__cause__
            trouble = str(getattr(cause, "orig", None) or cause or error).strip()
        if looks % SAY_EVERY == 0:
            place = context.database.url.render_as_string(hide_password=True)
            log.warning("waiting for the database", extra={"database": place, "why": trouble})
        looks += 1
        time.sleep(WAIT_SECONDS)


class _Remote:
    def __init__(
        self, context: Context, post: WorkerConfig, on_ready: Callable[[str], None]
    ) -> None:
        self._context = context
        self._on_ready = on_ready
        self._refusal: OtherEnvironment | None = None
        settings = context.settings
        at_once = post.concurrency or 2 * settings.graders + 2
        shares = share(post.queues, settings.graders, at_once)
        if settings.graders == 1 and len(shares) > 1:
            log.warning(
                "with one grader (PODIUM_GRADERS) small submissions wait behind larger ones; let "
                "another worker serve --queues %s alone", SMALL,
            )  # fmt: skip
        self._terms = ConsumerConfig(shares, settings.heartbeat_seconds, settings.drain_seconds)

    async def serve(self) -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        at_once = sum(number for _, number in self._terms.shares)
        loop.set_default_executor(ThreadPoolExecutor(at_once + 4, thread_name_prefix="worker"))
        for end in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(end, self._end, stop, end)
        deliveries = Deliveries(self._context, lambda refusal: self._refuse(refusal, stop))
        url = self._context.database.url.set(drivername="postgresql")
        consumer = Consumer(
            url.render_as_string(hide_password=False),
            self._terms,
            grade=deliveries.grade,
            defer_forgotten=self._defer_forgotten,
            is_outage=is_outage,
        )
        queues = [queue for queues, _ in self._terms.shares for queue in queues]
        self._on_ready(f"Podium worker: queues {', '.join(queues)}, {at_once} at once")
        await consumer.run(stop)
        if self._refusal is not None:
            raise self._refusal

    async def _defer_forgotten(self) -> int:
        try:
            return await asyncio.to_thread(recovery.defer_forgotten, self._context)
        except PodiumError:
            return 0  # the database is away; there will be another look

    def _refuse(self, refusal: OtherEnvironment, stop: asyncio.Event) -> None:
        self._refusal = refusal
        stop.set()

    def _end(self, stop: asyncio.Event, end: signal.Signals) -> None:
        if stop.is_set():
            log.warning("ending now; what is not finished is found by other workers")
            os._exit(128 + end)
        log.info("draining", extra={"seconds": self._terms.drain})
        stop.set()
