"""The HTTP application: `create_app(settings)` builds it."""

from __future__ import annotations

import functools
from collections.abc import Callable

from fastapi import FastAPI, Response
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
from app.api.dependencies import has_valid_key, sender, turn_holder
from app.api.http import problems
from app.api.http.body_limit import FORM_LIMITS, BodyLimit
from app.api.http.event_stream import StreamLimit
from app.api.http.head_requests import HeadRequests
from app.api.http.openapi import openapi_document
from app.api.http.request_log import RequestRecorder
from app.api.http.security_headers import SecurityHeaders
from app.api.http.turns.one_cookie import OneCookie
from app.api.http.turns.request_turns import RequestTurns
from app.api.http.turns.sender_turns import SenderTurns
from app.api.imports import grading_reports, mlagentbench_results
from app.api.trust import public_log, receipts, reviews
from app.kaggle_api.routers import ROUTERS as KAGGLE_ROUTERS
from app.lifespan import lifespan
from app.services.login import COOKIE
from app.settings import Settings
from app.web import routers as pages

DESCRIPTION = """A grading service for AI agents that do machine-learning engineering. Submissions
are graded against private answers, placed among the human teams of a leaderboard, and win medals.

Send a key with every request: `Authorization: Bearer pod_...`. Errors are problem documents
(RFC 9457); every `type` is a page that explains it."""


def create_app(
    settings: Settings, on_ready: Callable[[str | None], None] = lambda key: None
) -> FastAPI:
    """Build the application. Its lifespan opens the context and runs the grading loop.

    `on_ready` is called when requests can be served, with the first admin key if this start made
    one, otherwise with None. After that, `app.state.shutdown()` ends waiting requests and event
    streams, so that the server can stop at once. Any thread or signal handler may call it.
    """
    app = FastAPI(
        title="Podium",
        version=__version__,
        description=DESCRIPTION,
        lifespan=lambda app: lifespan(app, settings, on_ready),
        openapi_url=None,  # below: its bytes are made once
        docs_url=None,  # app/web/reference.py
        redoc_url=None,
        form_limits={**FORM_LIMITS},
        # Podium has its own logs and metrics, and masks signed addresses in them.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
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
    app.add_middleware(SenderTurns, sender_of=sender, has_valid_key=has_valid_key)
    app.add_middleware(OneCookie, name=COOKIE)
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
