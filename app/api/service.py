"""Liveness, readiness, and metrics for Prometheus."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from app import __version__
from app.api.dependencies import FOR_METRICS, Ctx, reads_results
from app.api.http.connections.limit import ConnectionLimit
from app.api.http.problems import responses
from app.grading_version import grading_version
from app.services.operations import gauges, health

router = APIRouter(tags=["service"])
READINESS = {
    "application/json": {
        "schema": {
            "type": "object",
            "required": [
                "status",
                "database",
                "storage",
                "graders",
                "listener",
                "workers",
                "isolation",
                "connections",
            ],
            "properties": {
                "status": {"type": "string", "enum": ["ready", "not_ready"]},
                "database": {"type": "string"},
                "storage": {"type": "string"},
                "graders": {"type": "string"},
                "listener": {"type": "string"},
                "workers": {
                    "type": "string",
                    "description": "for information: a server without workers is ready",
                },
                "isolation": {"type": "object"},
                "connections": {
                    "type": "object",
                    "description": "of this server, and its open files (`descriptors`: the "
                    "connections, and others rounded up to 256; null without /proc) of its limit",
                    "required": ["open", "most", "descriptors", "limit"],
                    "properties": {
                        "open": {"type": "integer"},
                        "most": {"type": "integer"},
                        "descriptors": {"type": ["integer", "null"]},
                        "limit": {"type": "integer"},
                    },
                },
            },
        }
    }
}


@router.get("/healthz", responses=responses())
async def alive() -> dict[str, str]:
    """Whether this process answers."""
    return {"status": "ok", "version": __version__, "grading_version": grading_version()}


@router.get(
    "/readyz",
    response_model=None,
    responses={
        **responses(),
        200: {"content": READINESS, "description": "Every part works"},
        503: {"content": READINESS, "description": "Some part does not work; the body says which"},
    },
)
def ready(request: Request, context: Ctx, response: Response) -> dict[str, Any]:
    """Whether database, storage, graders and listener work; each is tried.

    Needs no key. Only researchers and admins see the address of the store of files.

    If workers grade, the answer also says whether any is alive. A server without workers is ready:
    it accepts submissions, and they wait.
    """
    found = health.readiness(context, lambda: reads_results(request, context))
    response.status_code = 200 if found.is_ready else 503
    limit: ConnectionLimit = request.app.state.connections
    use = health.connection_use(len(limit), limit.bounds.most)
    return {
        "status": "ready" if found.is_ready else "not_ready",
        **asdict(found),
        "connections": asdict(use),
    }


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    dependencies=[FOR_METRICS],
    responses={
        200: {"content": {"text/plain": {"schema": {"type": "string"}}}},
        **responses(401, 403),
    },
)
def metrics(context: Ctx) -> Response:
    """Counters and gauges for Prometheus.

    Needs the key of PODIUM_METRICS_KEY, or a researcher's key.
    """
    gauges.measure(context)
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)
