"""`podium worker`: grade submissions that servers have queued."""

from __future__ import annotations

import logging
from typing import Annotated

import typer

from app.cli.output import print_line
from app.queue.sizes import MEDIUM_BELOW, QUEUES, SMALL_BELOW
from app.units import MEGABYTE

SIZES = (
    f"small (below {SMALL_BELOW // MEGABYTE} MB), medium (below {MEDIUM_BELOW // MEGABYTE} MB), "
    "large"
)


def worker(
    queues: Annotated[
        str, typer.Option(help=f"queues to serve, separated by commas: {SIZES}")
    ] = ",".join(QUEUES),
    concurrency: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="submissions claimed at once, and as many of competitions with a metric.py; "
            "default: 2 x graders + 2",
        ),
    ] = None,
    adopt: Annotated[
        bool,
        typer.Option(
            "--adopt",
            help="make this version and its libraries the environment that grades in this database",
        ),
    ] = False,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="port for Prometheus metrics; 0 chooses a free one; default: none",
        ),
    ] = None,
) -> None:
    """Grade queued submissions. Start any number of workers on any number of machines.

    Each has PODIUM_GRADERS graders. On SIGTERM a worker claims no more submissions, finishes those
    it can within PODIUM_DRAIN_SECONDS, and returns the others to the queue. A second signal ends
    it at once; its missing heartbeats then return its submissions.
    """
    from app.cli.operation.first_process import leave_first_process
    from app.cli.operation.hang_up import end_at_hang_up

    leave_first_process()  # before the modules of the worker take memory in both
    from app.logs import configure_logs
    from app.read_settings import read_settings
    from app.worker.remote import WorkerConfig, run_worker

    settings = read_settings()
    configure_logs(settings.log_level, lambda: "")
    if settings.log_level != "debug":  # two long lines a job, and one for each lost connection
        for library, level in (("procrastinate", "WARNING"), ("psycopg.pool", "ERROR")):
            logging.getLogger(library).setLevel(level)
        logging.getLogger("alembic").setLevel("WARNING")
    end_at_hang_up()
    names = tuple(part.strip() for part in queues.split(",") if part.strip())
    run_worker(settings, WorkerConfig(names, concurrency, adopt, metrics_port), print_line)
