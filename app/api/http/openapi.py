"""The OpenAPI document of this Podium, and parts of it that several routes have."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from app.api.http import problems

# Errors that any body can cause before an endpoint sees it: it cannot be read, or is too large.
OF_BODIES = problems.responses(400, 413)


def form_with_file(part: str, **others: dict[str, Any]) -> dict[str, Any]:
    """The content of a body that is a form with the file `part` and the optional parts `others`."""
    parts = {part: {"type": "string", "format": "binary"}, **others}
    schema = {"type": "object", "required": [part], "properties": parts}
    return {"multipart/form-data": {"schema": schema}}


def openapi_document(app: FastAPI) -> dict[str, Any]:
    """FastAPI's document, with Podium's problem documents instead of FastAPI's errors."""
    if app.openapi_schema is None:
        document = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        schemas["Problem"] = problems.SCHEMA
        schemas.pop("HTTPValidationError", None)
        schemas.pop("ValidationError", None)
        for path in document["paths"].values():
            for operation in path.values():
                if "requestBody" in operation:
                    _add_answers_to_bodies(operation)
        app.openapi_schema = document
    return app.openapi_schema


def _add_answers_to_bodies(operation: dict[str, Any]) -> None:
    described = operation["responses"]
    for status, response in OF_BODIES.items():
        described.setdefault(str(status), response)
    operation["responses"] = dict(sorted(described.items()))
