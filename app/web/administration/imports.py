"""Import an archive of a competition from a page, for admins."""

from __future__ import annotations

import shutil

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse

from app.api.dependencies import FOR_ADMINS, Anyone, Ctx, Id
from app.api.http.upload import receive_form
from app.domain.states import ArchivalKind
from app.errors import Invalid
from app.reports.document.report import NamedRows
from app.services.auth import require_admin
from app.services.competitions import import_folder
from app.services.competitions.import_jobs import RUNNING, ImportJobs
from app.services.runtime.archival import archived
from app.web.page_data.facts import IMPORT, import_facts
from app.web.page_data.formats import PAGE_FORMAT
from app.web.rendering.fill_templates import page
from app.web.rendering.forms import form_caller, form_token, login_behind_form

router = APIRouter(include_in_schema=False, dependencies=[FOR_ADMINS, PAGE_FORMAT])
forms = APIRouter(include_in_schema=False)
HERE = "/operations/imports"
API = "/v1/competitions"
MISTAKE = ("file", "key", "message")
UNCONFIRMED = (
    "Nothing was imported: tick the box that says that new runs are to use this version, and send "
    "the archive again."
)


def jobs_of(request: Request) -> ImportJobs:
    """The imports of this server."""
    found: ImportJobs = request.app.state.imports
    return found


@router.get(HERE, response_class=HTMLResponse)
def show_imports(request: Request, context: Ctx, caller: Anyone) -> Response:
    """The form, and the imports since the server started."""
    found = jobs_of(request).latest()
    return page(
        request, caller, "imports.html", title="Import a competition", api=API,
        found=found, token=form_token(request),
        table=lambda: NamedRows(IMPORT, [import_facts(one) for one in found]),
        most_bytes=context.settings.max_upload_bytes,
    )  # fmt: skip


@router.get(HERE + "/{import_id}", response_class=HTMLResponse)
def show_import(request: Request, context: Ctx, caller: Anyone, import_id: Id) -> Response:
    """One import: how far it is, its mistakes, or its version."""
    job = jobs_of(request).find(import_id)
    slugs = [job.result.version.slug] if job.result else []
    hidden = archived(context, ArchivalKind.COMPETITION, slugs) if slugs else {}
    return page(
        request, caller, "import.html", title="Import of a competition", api=API, job=job,
        live=job.state == RUNNING,
        archived=hidden.values(), facts=lambda: import_facts(job),
        table=lambda: NamedRows(
            MISTAKE, [{name: one.get(name) for name in MISTAKE} for one in job.mistakes]
        ),
    )  # fmt: skip


@forms.post(HERE)
async def import_archive(request: Request, context: Ctx) -> Response:
    """Receive the archive, and import it in the background."""
    # The sender is checked before the file is received; the token comes with the file.
    caller = await run_in_threadpool(login_behind_form, request, context)
    require_admin(caller)
    jobs = jobs_of(request)
    jobs.require_idle()
    import_folder.require_disk_space(context)
    scratch = await run_in_threadpool(context.scratch)
    try:
        archive = scratch / "archive"
        with archive.open("wb") as file:
            fields = await receive_form(request, "archive", file, context.settings.max_upload_bytes)
        # The login may have ended meanwhile.
        await run_in_threadpool(form_caller, request, context, fields.get("token", ""))
        if not fields.get("confirm"):
            raise Invalid(UNCONFIRMED)
        if archive.stat().st_size == 0:
            raise Invalid("Nothing was imported: choose an archive first.")
        job = jobs.start(context, scratch, archive)
    except BaseException:
        await run_in_threadpool(shutil.rmtree, scratch, ignore_errors=True)
        raise
    return RedirectResponse(f"{HERE}/{job.id}", 303)
