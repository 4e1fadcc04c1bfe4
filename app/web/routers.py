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
    for module in modules:
        app.include_router(module.router)
    for router in (
        boards.public, runs.forms, operations.forms, imports.forms, reviews.forms,
    ):  # fmt: skip
        app.include_router(router)
    for router in (static_files.router, reference.router):
        app.include_router(router)
    app.state.renderer = Renderer()
    app.state.imports = ImportJobs()
    errors.install(app)


def close(app: FastAPI) -> None:
    """End what pages have started in the background."""
    app.state.imports.close()
