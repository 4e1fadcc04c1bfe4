"""The REST calls of old clients, kaggle 1.5 to 1.7, answered by the functions of the later ones.

The differences: arguments are in the path, the query or a form; lists come without an object
around them; states are in lower case.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Request, Response
from starlette.formparsers import MultiPartException, MultiPartParser

from app.api.dependencies import Ctx, Key
from app.api.http.body_limit import FORM_LIMITS
from app.api.http.request_log import note_caller
from app.api.http.upload import bounded
from app.errors import BadRequest
from app.kaggle_api import competitions, files, leaderboard, submissions, uploads
from app.kaggle_api.deps import State
from app.kaggle_api.fields import MAX_BODY_BYTES, MOST_OF_PAGE, Fields
from app.kaggle_api.route import kaggle_router
from app.services.auth import Caller, identify, require_no_harness

router = kaggle_router()
BASE = "/api/v1/competitions"
READS = ["GET", "HEAD"]  # the addresses to which files redirect answer HEAD too
KNEW_NO_PAGES = "Swagger-Codegen/"  # the name that kaggle 1.5 and 1.6 send
# kaggle 1.7 writes the names in the query in lower case.
NAMES = {
    name.lower(): name
    for name in ("pageSize", "pageToken", "page", "search", "competitionName", "fileName",
                 "contentLength", "blobFileTokens", "submissionDescription")
}  # fmt: skip


def _old_caller(request: Request, context: Ctx, key: Key) -> Caller:
    # Old clients always send groups and orders, which mean nothing here, so no name is refused.
    found = identify(context, key)
    note_caller(request.scope, found.key_id, found.role.value)
    require_no_harness(found)
    return found


Client = Annotated[Caller, Depends(_old_caller)]


def _named(pairs: Any) -> Fields:
    known = ((NAMES.get(name.lower()), value) for name, value in pairs)
    return Fields({name: value for name, value in known if name and value != ""})


async def _query(request: Request) -> Fields:
    # kaggle 1.6 writes an absent page token as `None`.
    given = [(name, value) for name, value in request.query_params.items() if value != "None"]
    return _named([*given, *_path(request)])


async def _form(request: Request) -> Fields:
    """The fields of a form and of the path."""
    try:
        parser = MultiPartParser(request.headers, bounded(request, MAX_BODY_BYTES), **FORM_LIMITS)
        form = await parser.parse()
    except (MultiPartException, KeyError, ValueError):
        raise BadRequest("The body is not a form (multipart/form-data).") from None
    texts = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
    return _named([*texts, *_path(request)])


def _knows_no_pages(request: Request) -> bool:
    """Whether the client is kaggle 1.5, or 1.6 up to 1.6.12: later ones send the size of a page."""
    is_old = request.headers.get("User-Agent", "").startswith(KNEW_NO_PAGES)
    return is_old and "pageSize" not in request.query_params


def _path(request: Request) -> list[tuple[str, str]]:
    return list(request.path_params.items())


Query = Annotated[Fields, Depends(_query)]
Form = Annotated[Fields, Depends(_form)]


@router.get(f"{BASE}/list", response_model=None)
def list_competitions(context: Ctx, caller: Client, fields: Query) -> list[Any]:
    """The competitions of this key."""
    found: list[Any] = competitions.list_competitions(context, caller, fields)["competitions"]
    return found


@router.get(BASE + "/data/list/{competitionName}", response_model=None)
def list_files(
    request: Request, context: Ctx, caller: Client, fields: Query
) -> dict[str, Any] | list[Any]:
    """The public files: a page of them, or a list for clients without pages."""
    if not _knows_no_pages(request):
        return files.list_files(context, caller, fields)
    most = _named([*_path(request), ("pageSize", str(MOST_OF_PAGE))])
    found: list[Any] = files.list_files(context, caller, most)["files"]
    return found


@router.api_route(BASE + "/data/download-all/{competitionName}", methods=READS, response_model=None)
def download_all(
    request: Request, context: Ctx, caller: Client, state: State, fields: Query
) -> Response:
    """Redirect to the archive of all public files."""
    return files.download_all(request, context, caller, state, fields)


@router.api_route(
    BASE + "/data/download/{competitionName}/{fileName:path}", methods=READS, response_model=None
)
def download_one(
    request: Request, context: Ctx, caller: Client, state: State, fields: Query
) -> Response:
    """Redirect to one public file."""
    return files.download_one(request, context, caller, state, fields)


@router.post(BASE + "/submission-url", response_model=None)
@router.post(
    BASE + "/{competitionName}/submissions/url/{contentLength}/{modified}", response_model=None
)
def start_upload(
    request: Request, context: Ctx, caller: Client, state: State, fields: Form
) -> dict[str, Any]:
    """Give an address for the file: kaggle 1.7 uses the first path, 1.6 the second."""
    return uploads.start_upload(request, context, caller, state, fields)


@router.post(BASE + "/submissions/submit/{competitionName}", response_model=None)
async def create_submission(
    request: Request, context: Ctx, caller: Client, state: State, fields: Form
) -> dict[str, Any]:
    """Submit an uploaded file."""
    return await submissions.create_submission(request, context, caller, state, fields)


@router.post(BASE + "/submissions/submit-notebook/{competitionName}", response_model=None)
def create_code_submission(caller: Client) -> None:
    """Refuse notebooks: Podium does not run them."""
    submissions.create_code_submission(caller)


@router.get(BASE + "/submissions/list/{competitionName}", response_model=None)
def list_submissions(context: Ctx, caller: Client, fields: Query) -> list[Any]:
    """The run's own submissions, newest first, as its policy allows."""
    found = submissions.list_submissions(context, caller, fields)["submissions"]
    return [{**one, "status": one["status"].lower()} for one in found]


@router.get(BASE + "/{competitionName}/leaderboard/view", response_model=None)
def get_leaderboard(context: Ctx, caller: Client, fields: Query) -> dict[str, Any]:
    """The leaderboard, best first."""
    return leaderboard.get_leaderboard(context, caller, fields)


@router.get(BASE + "/{competitionName}/leaderboard/download", response_model=None)
def download_leaderboard(context: Ctx, caller: Client, fields: Query) -> Response:
    """The leaderboard as one CSV in a zip."""
    return leaderboard.download_leaderboard(context, caller, fields)
