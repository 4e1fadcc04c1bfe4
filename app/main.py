"""The HTTP application: `create_app(settings)` builds it."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable

from fastapi import FastAPI, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from app import __version__
from app.api import (
    boards,
    competitions,
    create_submission,
    events,
    experiments,
    grade,
    reported_scores,
    results,
    runs,
    scores,
    service,
    skill,
    submissions,
    success,
    suites,
    uncertainty,
)
from app.api.administration import amendments, archive, faults, keys, regrades
from app.api.admit import admit, confirm
from app.api.dependencies import turn_holder
from app.api.http import problems
from app.api.http.body_limit import FORM_LIMITS, BodyLimit
from app.api.http.event_stream import StreamLimit
from app.api.http.head_requests import HeadRequests
from app.api.http.openapi import openapi_document
from app.api.http.request_log import RequestRecorder
from app.api.http.security_headers import SecurityHeaders
from app.api.http.turns.request_turns import RequestTurns
from app.api.imports import grading_reports, mlagentbench_results
from app.api.trust import public_log, receipts, reviews
from app.errors import PodiumError
from app.kaggle_api.deps import open_state
from app.kaggle_api.routers import ROUTERS as KAGGLE_ROUTERS
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
from app.web import routers as pages
from app.worker.background import (
    run_garbage_collector,
    run_late_receipts,
    run_result_reader,
    run_reviewer,
    run_take_over,
)
from app.worker.loop import NoWorker, Worker, regrading_loop

log = logging.getLogger("podium")
DESCRIPTION = """A grading service for AI agents that do machine-learning engineering. Submissions
are graded against private answers, placed among the human teams of a leaderboard, and win medals.

Send a key with every request: `Authorization: Bearer pod_...`. Errors are problem documents
(RFC 9457); every `type` is a page that explains it."""


SUSPECTS_SECONDS = 1.0  # how long a start waits at most for files that may have ended a server


def create_app(
    settings: Settings, on_ready: Callable[[str | None], None] = lambda key: None
) -> FastAPI:
    """Build the application. Its lifespan opens the context and runs the grading loop.

    `on_ready` is called when requests can be served, with the first admin key if this start made
    one, otherwise with None. After that, `app.state.shutdown()` ends waiting requests and event
    streams, so that the server can stop at once. Any thread or signal handler may call it.
    """

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        lock = lock_data_directory(settings.data_dir)
        await run_in_threadpool(upgrade_when_reachable, settings.database_url, 0)
        context = await run_in_threadpool(open_context, settings)
        await run_in_threadpool(continue_ids, context.database)
        context.listen()
        worker = NoWorker() if settings.queues else Worker(context)
        regrading = (
            None if isinstance(worker, NoWorker) else regrading_loop(context, worker.is_idle)
        )
        stopping = threading.Event()
        app.state.batch_receiver = await run_in_threadpool(
            open_batch_receiver, context, worker.wake
        )
        await run_in_threadpool(context.blobs.sweep)
        await run_in_threadpool(_resume, context)
        await run_in_threadpool(context.graders.warm_up)
        await run_in_threadpool(bootstrap.import_bundled, context)
        app.state.context, app.state.worker, app.state.regrading = context, worker, regrading
        threads = [
            threading.Thread(target=each.run, args=(lambda idle: stopping.is_set(),), name=name)
            for name, each in (("grading-loop", worker), ("regrading", regrading))
            if each is not None
        ]
        background = [
            threading.Thread(
                target=run_garbage_collector, args=(context, stopping), name="garbage-collector"
            ),
            threading.Thread(
                target=run_late_receipts, args=(context, stopping), name="late-receipts"
            ),
            threading.Thread(
                target=run_result_reader, args=(context, stopping), name="result-reader"
            ),
        ]
        if not settings.queues:  # otherwise workers do it: they have graders
            background.append(
                threading.Thread(target=run_reviewer, args=(context, stopping), name="reviewer")
            )
        if not (settings.queues or settings.is_sqlite):
            background.append(
                threading.Thread(target=run_take_over, args=(context, stopping), name="take-over")
            )
        loop = asyncio.get_running_loop()
        app.state.shutdown = lambda: loop.call_soon_threadsafe(context.notifications.close)
        app.state.kaggle = open_state(context)
        app.state.logins = open_logins(context)
        try:
            for each in threads:
                each.start()
            # Without requests few things can end the server but the file it grades.
            await run_in_threadpool(worker.wait_for_suspects, SUSPECTS_SECONDS)
            for each in background:
                each.start()
            # The present objects stay until the end: the collector need not check them again.
            gc.collect()
            gc.freeze()
            with bootstrap.first_admin_key(context) as key:
                on_ready(key)
            yield
        finally:  # also of a start that fails: the process waits for its threads
            stopping.set()
            worker.wake()
            if regrading is not None:
                regrading.wake()
            for each in (*threads, *background):
                if each.ident is not None:  # it was started
                    await run_in_threadpool(each.join)
            if app.state.batch_receiver is not None:
                await run_in_threadpool(app.state.batch_receiver.close)
            await run_in_threadpool(pages.close, app)
            await run_in_threadpool(_stop_grading, context)
            if regrading is not None:
                await run_in_threadpool(regrading.give_back)
            await run_in_threadpool(context.close)
            os.close(lock)

    app = FastAPI(
        title="Podium",
        version=__version__,
        description=DESCRIPTION,
        lifespan=lifespan,
        openapi_url=None,  # below: its bytes are made once
        docs_url=None,  # app/web/reference.py
        redoc_url=None,
        form_limits={**FORM_LIMITS},
    )
    # Routes are matched in order: the most frequent come first.
    by_frequency = (
        create_submission,
        submissions,
        runs,
        competitions,
        experiments,
        results,
        boards,
        grading_reports,
    )
    rarely_used = (
        grade, reported_scores, scores, success, mlagentbench_results, amendments, archive, keys,
        regrades, receipts, public_log, events, faults, suites, service, skill, problems,
        uncertainty, reviews,
    )  # fmt: skip
    # `include_router` would build every route again when the first request passes its router:
    # 150 ms on the event loop of a new server. No router needs anything of the application.
    for router in (*(each.router for each in (*by_frequency, *rarely_used)), *KAGGLE_ROUTERS):
        app.router.routes.extend(router.routes)
    app.state.streams = StreamLimit(settings.event_streams)
    problems.install(app)
    pages.install(app)
    app.add_middleware(RequestTurns, holder_of=turn_holder)
    app.add_middleware(BodyLimit, admit=admit, confirm=confirm)
    app.add_middleware(HeadRequests)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(RequestRecorder)
    app.openapi = lambda: openapi_document(app)  # type: ignore[method-assign]

    @functools.cache
    def rendered() -> bytes:
        return bytes(JSONResponse(app.openapi()).body)

    @app.get("/openapi.json", include_in_schema=False)
    async def openapi() -> Response:
        return Response(rendered(), media_type="application/json")

    return app


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


def _stop_grading(context: Context) -> None:
    """End the graders. What they had begun is queued again, and no attempt is counted."""
    context.graders.close()
    if context.settings.queues:
        return
    try:
        recovery.give_back_all(context)
    except PodiumError as error:  # the next start does it
        log.warning("cannot take gradings back", extra={"error": type(error).__name__})
