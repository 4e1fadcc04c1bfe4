"""Suites, for researchers: which competitions belong to each, and which can be graded here."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path

from app.api.dependencies import FOR_RESEARCHERS, Ctx, Cursor, OptionalLimit
from app.api.http.problems import responses
from app.api.schemas.runs import Page
from app.services.competitions import suites
from app.services.competitions.suites import Suite

router = APIRouter(prefix="/v1/suites", tags=["competitions"], dependencies=[FOR_RESEARCHERS])


@router.get("", response_model=Page[Suite], responses=responses(401, 403, 422))
def list_suites(context: Ctx, limit: OptionalLimit = None, cursor: Cursor = None) -> Any:
    """Suites by name, each with its competitions."""
    found, after = suites.page(context, cursor, limit)
    return {"items": found, "next_cursor": after}


@router.get("/{suite_name}", response_model=Suite, responses=responses(401, 403, 404, 422))
def show_suite(context: Ctx, suite_name: Annotated[str, Path(max_length=100)]) -> Any:
    """One suite: its competitions, and whether each is imported and has data."""
    return suites.find(context, suite_name)
