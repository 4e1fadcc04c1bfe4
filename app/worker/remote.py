"""The worker process of `podium worker`: wait for the database, grade from the queue, drain."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from app.errors import Conflict, PodiumError, Unavailable
from app.queue.consumer import Consumer, ConsumerConfig
from app.queue.sizes import QUEUES, SMALL, share
from app.read_settings import make_data_directory, warn_of_open_directory
from app.services.grading import claims_to_give_back, recovery
from app.services.operations.start_checks import refuse_other_store
from app.services.regrades.add_submissions import finish_all
from app.services.runtime import environment
from app.services.runtime.blob_store import require_store
from app.services.runtime.context import Context, open_context, require_postgres_of_queue
from app.services.runtime.environment import OtherEnvironment
from app.settings import Settings
from app.storage.database import revisions
from app.storage.database.errors import may_pass
from app.thread_pool import ThreadPool
from app.worker.background import run_reviewer
from app.worker.deliveries import Deliveries
from app.worker.metrics_server import serve_metrics

log = logging.getLogger("podium.worker")
WAIT_SECONDS = 1.0  # between checks of a database that is away or not migrated yet
LOG_EVERY = 30  # checks


class NoQueue(Conflict):
    """This worker has no queue that it could serve."""


class UnknownQueue(Conflict):
    """A queue was named that does not exist."""


@dataclass(frozen=True)
class WorkerConfig:
    """The options of one worker: its queues, and how many submissions it claims at once.

    `adopt` makes its environment the one that grades for this database. `metrics_port` is the port
    that serves its metrics.
    """

    queues: tuple[str, ...] = QUEUES
    concurrency: int | None = None
    adopt: bool = False
    metrics_port: int | None = None


def run_worker(settings: Settings, config: WorkerConfig, on_ready: Callable[[str], None]) -> None:
    """Grade from the queue until SIGTERM or SIGINT, then drain. A second signal ends the process.

    Raises:
        NoQueue, UnknownQueue: this worker has no queue to serve, or `config` names an unknown one.
        OtherEnvironment: this worker's grades could differ from the grades in this database.
        PortInUse: another process uses the port for its metrics.
        GradingFault: no grader can be started.
        BadSettings, StoreAway: the blob store cannot be used.
        OtherStore: it is not that of the servers.
    """
    if not settings.queues:
        raise NoQueue(
            "PODIUM_DISPATCH is embedded: servers with this setting grade without workers, and "
            "a worker has nothing to do. Set PODIUM_DISPATCH=queue for servers and workers."
        )
    unknown = [queue for queue in config.queues if queue not in QUEUES]
    if unknown or not config.queues:
        raise UnknownQueue(
            f"there is no queue {', '.join(unknown) or '(none named)'}; the queues are: "
            + ", ".join(QUEUES)
        )
    require_postgres_of_queue(settings)
    make_data_directory(settings.data_dir)
    warn_of_open_directory(settings.data_dir)
    require_store(settings)
    context = open_context(settings, grades=True)
    try:
        if config.metrics_port is not None:
            log.info("metrics", extra={"url": serve_metrics(context, config.metrics_port)})
        _wait_for_schema(context)
        refuse_other_store(settings)
        environment.agree(context.database, adopt=config.adopt)
        claims_to_give_back.give_back_noted(context)
        context.graders.warm_up()
        stopping = threading.Event()
        reviewing = threading.Thread(target=run_reviewer, args=(context, stopping), name="reviewer")
        reviewing.start()
        try:
            asyncio.run(_RemoteWorker(context, config, on_ready).serve())
        finally:
            stopping.set()
            reviewing.join()
    finally:
        context.close()


def _wait_for_schema(context: Context) -> None:
    """Wait until the database answers and has this Podium's schema.

    Raises:
        NoQueue: the schema is newer than this Podium; waiting does not help.
    """
    checks = 0
    while True:
        try:
            state = revisions.state(context.database)
            if state == "current":
                return
            if state == "newer":
                raise NoQueue(
                    "the database's schema is newer than this Podium: install the version that "
                    "its servers run."
                )
            reason = (
                "its schema is older than this Podium: start a server of this version, or run "
                "`podium db upgrade`"
            )
        except Unavailable as error:
            cause = error.__cause__
            reason = str(getattr(cause, "orig", None) or cause or error).strip()
        if checks % LOG_EVERY == 0:
            place = context.database.url.render_as_string(hide_password=True)
            log.warning("waiting for the database", extra={"database": place, "why": reason})
        checks += 1
        time.sleep(WAIT_SECONDS)


class _RemoteWorker:
    def __init__(
        self, context: Context, config: WorkerConfig, on_ready: Callable[[str], None]
    ) -> None:
        self._context = context
        self._on_ready = on_ready
        self._refusal: OtherEnvironment | None = None
        settings = context.settings
        concurrency = config.concurrency or 2 * settings.graders + 2
        shares = share(config.queues, settings.graders, concurrency)
        if settings.graders == 1 and len(shares) > 1:
            log.warning(
                "with one grader (PODIUM_GRADERS) small submissions wait behind larger ones; start "
                "another worker with --queues %s", SMALL,
            )  # fmt: skip
        self._config = ConsumerConfig(shares, settings.heartbeat_seconds, settings.drain_seconds)

    async def serve(self) -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        concurrency = sum(number for _, number in self._config.shares)
        loop.set_default_executor(ThreadPool(2 * concurrency + 4, thread_name_prefix="worker"))
        for signal_number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(signal_number, self._handle_signal, stop, signal_number)
        deliveries = Deliveries(self._context, lambda refusal: self._refuse(refusal, stop))
        url = self._context.database.url.set(drivername="postgresql")
        consumer = Consumer(
            url.render_as_string(hide_password=False),
            self._config,
            grade=deliveries.grade,
            regrade=deliveries.regrade,
            defer_forgotten=self._defer_forgotten,
            is_outage=may_pass,
        )
        queues = [queue for queues, _ in self._config.shares for queue in queues]
        self._on_ready(
            f"Podium worker: queues {', '.join(queues)}, {concurrency} at once, and as many of "
            "competitions with a metric.py"
        )
        await consumer.run(stop)
        if self._refusal is not None:
            raise self._refusal

    async def _defer_forgotten(self) -> int:
        try:
            await asyncio.to_thread(self._context.database.write, finish_all)
        except PodiumError:
            return 0  # the database is away; maintenance tries again later
        except Exception:  # submissions do not wait for a regrade
            log.exception("cannot finish regrades")
        try:
            return await asyncio.to_thread(recovery.defer_forgotten, self._context)
        except PodiumError:
            return 0

    def _refuse(self, refusal: OtherEnvironment, stop: asyncio.Event) -> None:
        self._refusal = refusal
        stop.set()

    def _handle_signal(self, stop: asyncio.Event, signal_number: signal.Signals) -> None:
        if stop.is_set():
            log.warning("ending now; other workers will grade the unfinished submissions")
            os._exit(128 + signal_number)
        log.info("draining", extra={"seconds": self._config.drain})
        stop.set()
