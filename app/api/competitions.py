"""Competitions: declarations, files, human leaderboards, imports."""

from __future__ import annotations

import csv
import io
import shutil
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import PlainTextResponse

from app.api import serializers
from app.api.dependencies import (
    FOR_ADMINS,
    FOR_RESEARCHERS,
    Anyone,
    Archived,
    Ctx,
    Cursor,
    Limit,
    OptionalLimit,
    Slug,
)
from app.api.http.file_responses import is_known, leased_file, not_modified
from app.api.http.next_page import json_in_parts, page_of_json
from app.api.http.openapi import form_with_file
from app.api.http.problems import responses
from app.api.http.upload import receive_file_part
from app.api.schemas.competitions import (
    CompetitionImported,
    CompetitionOut,
    LeaderboardOut,
)
from app.api.schemas.runs import Page
from app.domain.leaderboard import Standing
from app.domain.states import ArchivalKind
from app.errors import NotFound
from app.importers.folder import PublicFile
from app.services.competitions import import_folder, queries
from app.services.runtime import archival
from app.services.runtime.context import Context
from app.storage.database.records import VersionRecord
from app.storage.queries.archive import ArchivalRecord

router = APIRouter(prefix="/v1/competitions", tags=["competitions"])
BYTES = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
FILE_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file", "content": BYTES},
    206: {"description": "The requested range", "content": BYTES},
    304: {"description": "The client has this file"},
    **responses(400, 401, 403, 404, 409, 416, 422),
}
Word = Annotated[str | None, Query(max_length=100, pattern=r"^[^\x00]*$")]
ARCHIVE_BODY = {"requestBody": {"required": True, "content": form_with_file("archive")}}


@router.get("", response_model=Page[CompetitionOut], responses=responses(401, 403, 404, 422))
def list_competitions(
    context: Ctx,
    caller: Anyone,
    suite: Word = None,
    tag: Word = None,
    q: Word = None,
    archived: Archived = False,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Any:
    """Competitions by slug; a run's key sees only its own."""
    found, after = queries.page(
        context, caller, suite=suite, tag=tag, q=q, archived=archived, after=cursor, limit=limit
    )
    slugs = [entry.version.slug for entry, _ in found]
    retired = archival.archived(context, ArchivalKind.COMPETITION, slugs)
    items = [
        serializers.competition_json(context, entry, run, retired.get(entry.version.slug))
        for entry, run in found
    ]
    return page_of_json(items, after)


@router.post(
    "",
    status_code=201,
    response_model=CompetitionImported,
    responses={
        200: {"model": CompetitionImported, "description": "This content was imported before"},
        **responses(400, 401, 403, 413, 415, 422, 507),
    },
    openapi_extra=ARCHIVE_BODY,
    dependencies=[FOR_ADMINS],
)
async def import_competition(request: Request, response: Response, context: Ctx) -> Any:
    """Import a .zip, .tar or .tar.gz of a competition folder; new content is a new version."""
    import_folder.require_disk_space(context)
    scratch = await run_in_threadpool(context.scratch)
    try:
        with (scratch / "archive").open("wb") as file:
            await receive_file_part(request, "archive", file, context.settings.max_upload_bytes)
        imported = await run_in_threadpool(
            import_folder.import_archive, context, scratch / "archive"
        )
    finally:
        await run_in_threadpool(shutil.rmtree, scratch, ignore_errors=True)
    response.status_code = 201 if imported.created else 200
    # It reads the files of a new version, from a remote store too.
    shown = await run_in_threadpool(_imported, context, imported.version)
    return {**shown, "lint": imported.version.lint}


def _imported(context: Context, version: VersionRecord) -> dict[str, Any]:
    entry = context.catalogue.entry(version)
    return serializers.competition(context, entry, None, _archived(context, version.slug))


def _archived(context: Context, slug: str) -> ArchivalRecord | None:
    return archival.archived(context, ArchivalKind.COMPETITION, [slug]).get(slug)


@router.get("/{slug}", response_model=CompetitionOut, responses=responses(401, 403, 404, 422))
def show_competition(context: Ctx, caller: Anyone, slug: Slug) -> Any:
    """One competition."""
    entry, run = queries.find(context, caller, slug)
    parts = serializers.competition_json(context, entry, run, _archived(context, slug))
    return json_in_parts(*parts)


@router.get(
    "/{slug}/description",
    response_class=PlainTextResponse,
    responses={
        200: {"content": {"text/markdown": {"schema": {"type": "string"}}}},
        **responses(401, 403, 404, 422),
    },
)
def show_description(context: Ctx, caller: Anyone, slug: Slug) -> Response:
    """The task, as the agent reads it."""
    return PlainTextResponse(queries.description(context, caller, slug), media_type="text/markdown")


@router.get(
    "/{slug}/files", response_model=Page[PublicFile], responses=responses(401, 403, 404, 422)
)
def list_files(
    context: Ctx,
    caller: Anyone,
    slug: Slug,
    limit: OptionalLimit = None,
    cursor: Annotated[int, Query(ge=0, description="`next_cursor` of the last page")] = 0,
) -> Any:
    """The public files. With a `limit` they come in pages; without one, all of them."""
    entry, _ = queries.find(context, caller, slug)
    files = context.catalogue.public_files.of(entry.version.id)
    end = len(files) if limit is None else min(cursor + limit, len(files))
    following = str(end) if end < len(files) else None
    return page_of_json([[files.part(cursor, end)]], following)


@router.get("/{slug}/files/{name:path}", response_class=Response, responses=FILE_RESPONSES)
async def public_file(
    request: Request,
    context: Ctx,
    caller: Anyone,
    slug: Slug,
    name: Annotated[str, Path(max_length=500)],
) -> Response:
    """A public file's bytes; supports `Range` and conditional requests by `ETag` and by date."""
    entry, sha256 = await run_in_threadpool(queries.public_file, context, caller, slug, name)
    if is_known(request, sha256, entry.version.imported_at):
        return not_modified(sha256)
    find = partial(context.catalogue.files.lease_public, entry.version, name, sha256)
    return await leased_file(request, find, sha256, entry.version.imported_at)


@router.get("/{slug}/sample-submission", response_class=Response, responses=FILE_RESPONSES)
async def sample_submission(request: Request, context: Ctx, caller: Anyone, slug: Slug) -> Response:
    """The sample submission's bytes."""
    return await public_file(request, context, caller, slug, queries.SAMPLE)


@router.get(
    "/{slug}/leaderboard",
    response_model=LeaderboardOut,
    responses={
        200: {"content": {"text/csv": {"schema": {"type": "string"}}}},
        **responses(401, 403, 404, 422),
    },
    dependencies=[FOR_RESEARCHERS],
)
def show_leaderboard(request: Request, context: Ctx, caller: Anyone, slug: Slug) -> Any:
    """The human leaderboard, best first; `Accept: text/csv` gives place and score of each team."""
    entry, board = queries.leaderboard(context, caller, slug)
    if "text/csv" not in request.headers.get("Accept", ""):
        lines = serializers.board_summary(entry.competition, board)
        version = entry.version
        return {
            **lines, "competition": slug, "version": version.number, "scores": board.scores
        }  # fmt: skip
    if board.scores is None:
        raise NotFound(f"Only the medal lines of {slug}'s leaderboard are known; ask for JSON.")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["place", "score"])
    writer.writerows(enumerate(board.scores, start=1))
    return Response(text.getvalue(), media_type="text/csv")


@router.get(
    "/{slug}/standing",
    response_model=Standing,
    responses=responses(401, 403, 404, 422),
    dependencies=[FOR_RESEARCHERS],
)
def show_standing(
    context: Ctx,
    caller: Anyone,
    slug: Slug,
    score: Annotated[float, Query(allow_inf_nan=False, description="the score to place")],
) -> Any:
    """The place and medal that a score would have among the human teams; nothing is submitted."""
    return queries.standing(context, caller, slug, score)
