"""All pages, and errors as pages."""

from __future__ import annotations

from fastapi import FastAPI

from app.pictures.renderer import Renderer
from app.services.competitions.import_jobs import ImportJobs
from app.web import (
    boards,
    compare,
    competitions,
    errors,
    experiments,
    live,
    login,
    pictures,
    receipts,
    reference,
    runs,
    static_files,
)
from app.web.administration import imports, operations, reviews


def install(app: FastAPI) -> None:
    """Add the pages to an application whose errors are problem documents already."""
    modules = (
        login, experiments, compare, live, runs, competitions, boards, pictures, operations,
        imports, receipts, reviews,
    )  # fmt: skip
    for router in (
        *(module.router for module in modules), boards.public, runs.forms, operations.forms,
        imports.forms, reviews.forms, static_files.router, reference.router,
    ):  # fmt: skip
        app.router.routes.extend(router.routes)  # as main.py does with its routers
    app.state.renderer = Renderer()
    app.state.imports = ImportJobs()
    errors.install(app)


def close(app: FastAPI) -> None:
    """End what pages have started in the background."""
    app.state.imports.close()
