"""`podium worker`: grades on any machine what the servers queue."""

from __future__ import annotations

import logging
from typing import Annotated

import typer

from app.logs import configure_logs
from app.queue.sizes import MEDIUM_BELOW, MEGABYTE, QUEUES, SMALL_BELOW
from app.settings import Settings
from app.worker.remote import WorkerConfig, run_worker

SIZES = (
    f"small (below {SMALL_BELOW // MEGABYTE} MB), medium (below {MEDIUM_BELOW // MEGABYTE} MB), "
    "large"
)


def worker(
    queues: Annotated[
        str, typer.Option(help=f"queues to serve, with commas between: {SIZES}")
    ] = ",".join(QUEUES),
    concurrency: Annotated[
        int | None,
        typer.Option(min=1, help="submissions taken on at once; without: twice the graders plus 2"),
    ] = None,
    adopt: Annotated[
        bool,
        typer.Option("--adopt", help="let this version and its libraries grade here from now on"),
    ] = False,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="show metrics for Prometheus there; 0 takes a free port; without: nowhere",
        ),
    ] = None,
) -> None:
    """Grade queued submissions. Any number of workers on any machines; PODIUM_GRADERS each.

    SIGTERM: take no more, finish within PODIUM_DRAIN_SECONDS, hand back what is not finished.
    A second signal ends the worker at once; others find what it was at by its missing heartbeat.
    """
    settings = Settings()
    configure_logs(settings.log_level, lambda: "")
    if settings.log_level != "debug":  # two long lines a job, and one for each lost connection
        for library, level in (("procrastinate", "WARNING"), ("psycopg.pool", "ERROR")):
            logging.getLogger(library).setLevel(level)
        logging.getLogger("alembic").setLevel("WARNING")
    names = tuple(part.strip() for part in queues.split(",") if part.strip())
    run_worker(settings, WorkerConfig(names, concurrency, adopt, metrics_port), typer.echo)
