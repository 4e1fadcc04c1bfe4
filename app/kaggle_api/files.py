"""Public files: lists, and downloads from signed addresses."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse

from app.api.dependencies import Anyone, Ctx
from app.api.http.file_responses import is_known, leased_file, not_modified
from app.api.http.origin import origin
from app.domain.states import CompetitionStatus
from app.errors import NeedsData, NotFound
from app.kaggle_api.archive import lease_archive
from app.kaggle_api.deps import KaggleState, State, entry_for, run_of
from app.kaggle_api.fields import Body
from app.kaggle_api.route import COMPETITIONS, kaggle_router, rpc
from app.services.auth import Caller
from app.services.competitions import queries
from app.services.runtime.catalogue import CatalogueEntry
from app.services.runtime.context import Context
from app.services.submissions import submit
from app.services.submissions.run_submissions import record_from
from app.storage.blobs.lease import Lease
from app.storage.database.records import SubmissionRecord

router = kaggle_router()
USUAL_PAGE = 20
DOWNLOAD = "download"
LINK_SECONDS = 6 * 3600  # an interrupted download resumes at the same address
ALL_FILES = ""  # replaces a file's name, for all files in one archive


@rpc(router, COMPETITIONS, "ListDataFiles")
def list_files(context: Ctx, caller: Anyone, fields: Body) -> dict[str, Any]:
    """The public files."""
    entry, _ = entry_for(context, caller, fields.slug())
    start, size = fields.page(USUAL_PAGE)
    files = context.catalogue.public_files.of(entry.version.id)
    created = entry.version.imported_at.isoformat()
    return {
        "files": [
            {"ref": file["name"], "name": file["name"], "totalBytes": file["bytes"],
             "creationDate": created, "description": "", "url": ""}
            for file in files[start : start + size]
        ],
        "nextPageToken": str(start + size) if start + size < len(files) else "",
    }  # fmt: skip


@rpc(router, COMPETITIONS, "DownloadDataFiles")
def download_all(
    request: Request, context: Ctx, caller: Anyone, state: State, fields: Body
) -> Response:
    """Redirect to the archive of all public files."""
    entry, _ = entry_for(context, caller, fields.slug())
    _require_files(context, entry)
    file = {"version": entry.version.id, "file": ALL_FILES}
    return _redirect_to(request, state, caller, f"{entry.version.slug}.zip", file)


@rpc(router, COMPETITIONS, "DownloadDataFile")
def download_one(
    request: Request, context: Ctx, caller: Anyone, state: State, fields: Body
) -> Response:
    """Redirect to one public file."""
    slug, name = fields.slug(), fields.required("fileName")
    entry, _ = entry_for(context, caller, slug)
    queries.public_file(context, caller, slug, name)
    return _redirect_to(request, state, caller, name, {"version": entry.version.id, "file": name})


@rpc(router, COMPETITIONS, "DownloadSubmission")
def download_submission(
    request: Request, context: Ctx, caller: Anyone, state: State, fields: Body
) -> Response:
    """Redirect to the file of one of the run's own submissions, as it was sent.

    Its name is the number of the submission, because clients write it to the working directory,
    where a later file may have the name with which it was sent.
    """
    run, ref = run_of(context, caller).id, fields.integer("submissionId")
    _sent(context, run, ref)
    return _redirect_to(request, state, caller, f"{ref}.csv", {"run": run, "ref": ref})


@router.api_route("/api/v1/files/{token}/{name:path}", methods=["GET", "HEAD"])
async def download(request: Request, context: Ctx, state: State, token: str, name: str) -> Response:
    """A file's bytes. The signed address is enough: clients resume without their key."""
    at, identity, find = await run_in_threadpool(_of_token, context, state, token)
    if is_known(request, identity, at):
        return not_modified(identity)
    return await leased_file(request, find, identity, at)


def _of_token(
    context: Context, state: KaggleState, token: str
) -> tuple[datetime, str, Callable[[], Lease]]:
    """The time of the bytes, their identity, and the function that finds them."""
    content = state.open(context, DOWNLOAD, token)
    if "ref" in content:
        sent = _sent(context, content["run"], content["ref"])
        return sent.received_at, sent.sha256, partial(submit.verified_file, context, sent)
    entry = context.catalogue.of_version(content["version"])
    file, version = content["file"], entry.version
    if file == ALL_FILES:
        identity = context.catalogue.public_files.of(version.id).digest
        return version.imported_at, identity, partial(lease_archive, context, entry)
    found = context.catalogue.public_files.of(version.id).find(file)
    if found is None:
        raise NotFound(f"{version.slug} has no public file {file!r}.")
    identity = found["sha256"]
    find = partial(context.catalogue.files.lease_public, version, file, identity)
    return version.imported_at, identity, find


def _sent(context: Context, run: str, ref: int) -> SubmissionRecord:
    found = record_from(context, run, f"sub_{ref:014x}")
    if found is None:
        raise NotFound(f"This run has no submission {ref}.")
    return found


def _redirect_to(
    request: Request, state: State, caller: Caller, name: str, content: dict[str, Any]
) -> Response:
    """Redirect to a signed address; clients name the local file after its last part."""
    token = state.tokens.sign(DOWNLOAD, LINK_SECONDS, key=caller.key_id, **content)
    return RedirectResponse(f"{origin(request)}/api/v1/files/{token}/{quote(name)}", 302)


def _require_files(context: Context, entry: CatalogueEntry) -> None:
    if entry.version.status == CompetitionStatus.NEEDS_DATA:
        raise NeedsData(f"{entry.version.slug} has no files yet: an admin has to import its data.")
    if not context.catalogue.public_files.of(entry.version.id):
        raise NotFound(f"{entry.version.slug} has no public files.")
