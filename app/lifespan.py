"""Start and stop of a server: what it opens, which threads run, and in which order they end."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool

from app.errors import PodiumError
from app.kaggle_api.deps import open_state
from app.services.grading import recovery
from app.services.login import open_logins
from app.services.operations import bootstrap
from app.services.regrades.add_submissions import finish_all
from app.services.runtime import environment
from app.services.runtime.context import (
    Context,
    continue_ids,
    lock_data_directory,
    open_context,
)
from app.services.submissions.batch_receiver import open_batch_receiver
from app.settings import Settings
from app.storage.database.wait_for_database import upgrade_when_reachable
from app.storage.queries.regrades.outcomes import ClaimedRegrading
from app.web import routers as pages
from app.worker.background import (
    run_garbage_collector,
    run_late_receipts,
    run_result_reader,
    run_reviewer,
    run_take_over,
)
from app.worker.grading_loop import GradingLoop
from app.worker.loop import NoWorker, Worker, regrading_loop

log = logging.getLogger("podium")
SUSPECTS_SECONDS = 1.0  # how long a start waits for files that may have killed a server


@dataclass(frozen=True, slots=True)
class Loops:
    """The loops of a server that grade. If workers grade, there is no loop for regrades."""

    live: Worker | NoWorker
    regrades: GradingLoop[ClaimedRegrading] | None

    def wake(self) -> None:
        """Let both check for work, and whether they should end."""
        self.live.wake()
        if self.regrades is not None:
            self.regrades.wake()


@contextlib.asynccontextmanager
async def lifespan(
    app: FastAPI, settings: Settings, on_ready: Callable[[str | None], None]
) -> AsyncIterator[None]:
    """Open the context and run the server's threads; close everything when the server ends.

    `on_ready` and `app.state.shutdown` are as `create_app` says.
    """
    lock = lock_data_directory(settings.data_dir)
    await run_in_threadpool(upgrade_when_reachable, settings.database_url, 0)
    context = await run_in_threadpool(open_context, settings)
    await run_in_threadpool(continue_ids, context.database)
    context.listen()
    loops = _loops(context)
    receiver = await run_in_threadpool(open_batch_receiver, context, loops.live.wake)
    await run_in_threadpool(_prepare, context)
    loop = asyncio.get_running_loop()
    app.state.shutdown = lambda: loop.call_soon_threadsafe(context.notifications.close)
    app.state.context, app.state.batch_receiver = context, receiver
    app.state.worker, app.state.regrading = loops.live, loops.regrades
    app.state.kaggle, app.state.logins = open_state(context), open_logins(context)
    stopping = threading.Event()
    grading, background = _grading_threads(loops, stopping), _background_threads(context, stopping)
    try:
        for thread in grading:
            thread.start()
        # Without requests, hardly anything except the file that is graded can kill the server.
        await run_in_threadpool(loops.live.wait_for_suspects, SUSPECTS_SECONDS)
        for thread in background:
            thread.start()
        # The present objects stay until the end, so the collector need not check them again.
        gc.collect()
        gc.freeze()
        with bootstrap.first_admin_key(context) as key:
            on_ready(key)
        yield
    finally:  # also if the start fails, because the process waits for its threads
        stopping.set()
        loops.wake()
        for thread in (*grading, *background):
            if thread.ident is not None:  # it was started
                await run_in_threadpool(thread.join)
        if receiver is not None:
            await run_in_threadpool(receiver.close)
        await run_in_threadpool(pages.close, app)
        await run_in_threadpool(_stop_grading, context, loops)
        await run_in_threadpool(context.close)
        os.close(lock)


def _loops(context: Context) -> Loops:
    if context.settings.queues:
        return Loops(NoWorker(), None)
    worker = Worker(context)
    return Loops(worker, regrading_loop(context, worker.is_idle))


def _prepare(context: Context) -> None:
    """Tidy up after the last server, start the graders and fill an empty database."""
    context.blobs.sweep()
    _resume(context)
    context.graders.warm_up()
    bootstrap.import_bundled(context)


def _grading_threads(loops: Loops, stopping: threading.Event) -> list[threading.Thread]:
    return [
        threading.Thread(target=each.run, args=(lambda idle: stopping.is_set(),), name=name)
        for name, each in (("grading-loop", loops.live), ("regrading", loops.regrades))
        if each is not None
    ]


def _background_threads(context: Context, stopping: threading.Event) -> list[threading.Thread]:
    settings = context.settings
    runs = {
        "garbage-collector": run_garbage_collector,
        "late-receipts": run_late_receipts,
        "result-reader": run_result_reader,
    }
    if not settings.queues:  # otherwise workers do it, which have graders
        runs["reviewer"] = run_reviewer
        if not settings.is_sqlite:  # a SQLite file has only one server
            runs["take-over"] = run_take_over
    return [
        threading.Thread(target=run, args=(context, stopping), name=name)
        for name, run in runs.items()
    ]


def _resume(context: Context) -> None:
    """Requeue the submissions that earlier servers left unfinished."""
    if not context.settings.queues:
        count = recovery.requeue_left_behind(context)
        if count:
            log.warning("requeued submissions of the last server", extra={"submissions": count})
        return
    try:
        environment.agree(context.database)
    except environment.OtherEnvironment as mismatch:
        # The server does not grade, so it may start. Workers with its environment will refuse.
        log.warning("this database has another grading environment", extra={"why": str(mismatch)})
    count = recovery.defer_forgotten(context)
    if count:
        log.warning("queued submissions without a job", extra={"submissions": count})
    context.database.write(finish_all)


def _stop_grading(context: Context, loops: Loops) -> None:
    """End the graders. Their submissions are queued again, and no attempt is counted."""
    context.graders.close()
    if loops.regrades is None:
        return
    try:
        recovery.give_back_all(context)
    except PodiumError as error:  # the next start does it
        log.warning("cannot take gradings back", extra={"error": type(error).__name__})
    loops.regrades.give_back()
