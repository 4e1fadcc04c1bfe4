"""Who may call each route: a table of all routes, held against the running server.

A new route without a line in the table fails `test_the_table_names_every_route`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.main import create_app
from app.settings import Settings
from tests.api.conftest import Podium

# PUBLIC needs no key; SIGNED needs an address that Podium signed; ANY needs a valid key of any
# role but a harness's, EVERY of all roles, HARNESS a harness's, a researcher's or an admin's; the
# others need the key of that role, and an admin's key always serves. LOGIN is a form of a page:
# without the cookie of a login, it is refused with 401 whatever key is sent.
PUBLIC, SIGNED, ANY, RESEARCHER, ADMIN = "public", "signed", "any", "researcher", "admin"
EVERY, HARNESS, LOGIN = "every", "harness", "login"
CALLS = "competitions.CompetitionApiService"
REST = "/api/v1/competitions"
TABLE = {
    "GET /openapi.json": PUBLIC,
    "GET /docs": PUBLIC,
    "GET /docs/{name}": PUBLIC,
    "GET /healthz": PUBLIC,
    "GET /readyz": PUBLIC,
    "GET /metrics": RESEARCHER,
    "GET /health": PUBLIC,
    "GET /SKILL.md": PUBLIC,
    "GET /llms.txt": PUBLIC,
    "GET /problems/{name}": PUBLIC,
    "POST /v1/runs/{run_id}/submissions": EVERY,
    "GET /v1/runs/{run_id}/submissions": EVERY,
    "GET /v1/submissions/{submission_id}": EVERY,
    "GET /v1/submissions/{submission_id}/file": ANY,
    "POST /v1/runs/{run_id}/validate": EVERY,
    "PUT /v1/runs/{run_id}/selected": ANY,
    "POST /v1/runs": HARNESS,
    "GET /v1/runs": ANY,
    "GET /v1/runs/{run_id}": EVERY,
    "PATCH /v1/runs/{run_id}": RESEARCHER,
    "POST /v1/runs/{run_id}/start": ANY,
    "GET /v1/runs/{run_id}/exposure": ANY,
    "GET /v1/runs/{run_id}/events": ANY,
    "GET /v1/runs/{run_id}/trajectory": RESEARCHER,
    "POST /v1/runs/{run_id}/reported-scores": RESEARCHER,
    "GET /v1/runs/{run_id}/reported-scores": RESEARCHER,
    "GET /v1/competitions": ANY,
    "POST /v1/competitions": ADMIN,
    "GET /v1/competitions/{slug}": ANY,
    "GET /v1/competitions/{slug}/description": ANY,
    "GET /v1/competitions/{slug}/files": ANY,
    "GET /v1/competitions/{slug}/files/{name:path}": ANY,
    "GET /v1/competitions/{slug}/sample-submission": ANY,
    "GET /v1/competitions/{slug}/leaderboard": RESEARCHER,
    "GET /v1/competitions/{slug}/standing": RESEARCHER,
    "GET /v1/competitions/{slug}/results": RESEARCHER,
    "POST /v1/competitions/{slug}/grade": HARNESS,
    "GET /v1/competitions/{slug}/grade": HARNESS,
    "POST /v1/experiments": RESEARCHER,
    "GET /v1/experiments": RESEARCHER,
    "GET /v1/experiments/{name}": RESEARCHER,
    "GET /v1/experiments/{name}/medal-rates": RESEARCHER,
    "GET /v1/experiments/{name}/pass-at-k": RESEARCHER,
    "GET /v1/experiments/{name}/scores": RESEARCHER,
    "GET /v1/experiments/{name}/sensitivity": RESEARCHER,
    "GET /v1/experiments/{name}/medals-over-time": RESEARCHER,
    "GET /v1/experiments/{name}/grading-report": RESEARCHER,
    "POST /v1/experiments/{name}/grading-reports": RESEARCHER,
    "GET /v1/experiments/{name}/success-rates": RESEARCHER,
    "GET /v1/experiments/{name}/outcomes": RESEARCHER,
    "POST /v1/experiments/{name}/mlagentbench-results": RESEARCHER,
    "POST /v1/competitions/{slug}/archive": ADMIN,
    "POST /v1/competitions/{slug}/restore": ADMIN,
    "POST /v1/experiments/{name}/archive": ADMIN,
    "PATCH /v1/experiments/{name}": ADMIN,
    "POST /v1/experiments/{name}/withdraw-imports": ADMIN,
    "GET /v1/experiments/{name}/amendments": RESEARCHER,
    "POST /v1/experiments/{name}/restore": ADMIN,
    "POST /v1/runs/{run_id}/archive": ADMIN,
    "POST /v1/runs/{run_id}/restore": ADMIN,
    "POST /v1/runs/{run_id}/keys": RESEARCHER,
    "GET /v1/keys": ADMIN,
    "POST /v1/keys": ADMIN,
    "DELETE /v1/keys/{key_id}": ADMIN,
    "GET /v1/faults": ADMIN,
    "GET /v1/medal-rates": RESEARCHER,
    "GET /v1/plan": RESEARCHER,
    "GET /v1/compare": RESEARCHER,
    "GET /v1/suites": RESEARCHER,
    "GET /v1/suites/{suite_name}": RESEARCHER,
    "GET /v1/suites/{suite_name}/items": RESEARCHER,
    "POST /validate": ANY,
    # Pages. Forms are sent with the cookie of a login, so a key alone opens none of them.
    "GET /login": PUBLIC,
    "POST /login": LOGIN,
    "POST /logout": PUBLIC,
    "GET /static/{name}": PUBLIC,
    "GET /favicon.ico": PUBLIC,
    "GET /": RESEARCHER,
    "GET /experiments/{name}": RESEARCHER,
    "GET /experiments/{name}/medals-over-time": RESEARCHER,
    "GET /compare": RESEARCHER,
    "GET /runs/{run_id}": RESEARCHER,
    "GET /runs/{run_id}/close": RESEARCHER,
    "POST /runs/{run_id}/close": LOGIN,
    "GET /submissions/{submission_id}": RESEARCHER,
    "GET /competitions": RESEARCHER,
    "GET /competitions/{slug}": RESEARCHER,
    "GET /suites": RESEARCHER,
    "GET /suites/{suite}": RESEARCHER,
    "GET /suites/{suite}/items": RESEARCHER,
    "GET /suites/{suite}/medal-rates.{form}": RESEARCHER,
    "GET /competitions/{slug}/leaderboard.{form}": RESEARCHER,
    "GET /experiments/{name}/medals-over-time.{form}": RESEARCHER,
    "GET /experiments/{name}/heat-map.{form}": RESEARCHER,
    "GET /comparison.{form}": RESEARCHER,
    "GET /cost.{form}": RESEARCHER,
    "GET /operations": ADMIN,
    "GET /operations/keys": ADMIN,
    "GET /operations/keys/{key_id}/revoke": ADMIN,
    "POST /operations/keys/{key_id}/revoke": LOGIN,
    # Kaggle's calls. Each is there twice: below /api/v1 and below /v1.
    "POST /security.OAuthService/IntrospectToken": PUBLIC,  # the key is in the body
    "POST /api.v1.DiagnosticsService/Hello": ANY,
    f"POST /{CALLS}/ListCompetitions": ANY,
    f"POST /{CALLS}/GetCompetition": ANY,
    f"POST /{CALLS}/ListCompetitionPages": ANY,
    f"POST /{CALLS}/ListDataFiles": ANY,
    f"POST /{CALLS}/DownloadDataFiles": ANY,
    f"POST /{CALLS}/DownloadDataFile": ANY,
    f"POST /{CALLS}/StartSubmissionUpload": ANY,
    f"POST /{CALLS}/CreateSubmission": ANY,
    f"POST /{CALLS}/CreateCodeSubmission": ANY,
    f"POST /{CALLS}/GetSubmission": ANY,
    f"POST /{CALLS}/ListSubmissions": ANY,
    f"POST /{CALLS}/DownloadSubmission": ANY,
    f"POST /{CALLS}/GetSubmissionLimits": ANY,
    f"POST /{CALLS}/GetLeaderboard": ANY,
    f"POST /{CALLS}/DownloadLeaderboard": ANY,
    "GET /api/v1/files/{token}/{name:path}": SIGNED,
    "PUT /api/v1/uploads/{token}": SIGNED,
    # The calls of kaggle 1.6 and 1.7.
    f"GET {REST}/list": ANY,
    f"GET {REST}/data/list/{{competitionName}}": ANY,
    f"GET {REST}/data/download-all/{{competitionName}}": ANY,
    f"GET {REST}/data/download/{{competitionName}}/{{fileName:path}}": ANY,
    f"POST {REST}/submission-url": ANY,
    f"POST {REST}/{{competitionName}}/submissions/url/{{contentLength}}/{{modified}}": ANY,
    f"POST {REST}/submissions/submit/{{competitionName}}": ANY,
    f"POST {REST}/submissions/submit-notebook/{{competitionName}}": ANY,
    f"GET {REST}/submissions/list/{{competitionName}}": ANY,
    f"GET {REST}/{{competitionName}}/leaderboard/view": ANY,
    f"GET {REST}/{{competitionName}}/leaderboard/download": ANY,
    # Addresses that Kaggle's clients may ask for and Podium does not have.
    f"ANY /{CALLS}/{{rest:path}}": PUBLIC,
    "ANY /security.OAuthService/{rest:path}": PUBLIC,
    "ANY /api.v1.DiagnosticsService/{rest:path}": PUBLIC,
    "ANY /blobs.BlobApiService/{rest:path}": PUBLIC,
    "ANY /api/{rest:path}": PUBLIC,
    # Receipts and the public log.
    "GET /v1/receipts/{receipt_id}": EVERY,
    "GET /v1/receipts/{receipt_id}.sig": EVERY,
    "GET /v1/receipts/{receipt_id}.dsse": EVERY,
    "GET /v1/runs/{run_id}/receipts": EVERY,
    "POST /v1/runs/{run_id}/receipts": RESEARCHER,
    "GET /v1/experiments/{name}/receipts": RESEARCHER,
    "POST /v1/experiments/{name}/receipts": RESEARCHER,
    "GET /v1/experiments/{name}/freeze": RESEARCHER,
    "POST /v1/experiments/{name}/freeze": RESEARCHER,
    "GET /.well-known/podium/allowed_signers": PUBLIC,
    "GET /.well-known/podium/revoked_keys": PUBLIC,
    "GET /v1/signing-keys": PUBLIC,
    "GET /v1/log/checkpoint": PUBLIC,
    "GET /v1/log/entries": PUBLIC,
    "GET /v1/log/entries/{number}": RESEARCHER,
    "GET /v1/log/proofs/inclusion": PUBLIC,
    "GET /v1/log/proofs/consistency": PUBLIC,
    "POST /v1/competitions/{slug}/regrades": ADMIN,
    "GET /v1/competitions/{slug}/regrades": RESEARCHER,
    "GET /v1/regrades/{regrade_id}": RESEARCHER,
    "POST /v1/regrades/{regrade_id}/apply": ADMIN,
    "POST /v1/regrades/{regrade_id}/cancel": ADMIN,
    "GET /operations/reviews": ADMIN,
    "GET /operations/reviews/{run_id}": ADMIN,
    "POST /operations/reviews/{run_id}": LOGIN,
    "GET /v1/reviews": RESEARCHER,
    "GET /v1/runs/{run_id}/review": RESEARCHER,
    "POST /v1/runs/{run_id}/review": ADMIN,
    "GET /v1/competitions/{slug}/known-leaks": RESEARCHER,
    "POST /v1/competitions/{slug}/known-leaks": ADMIN,
    "DELETE /v1/competitions/{slug}/known-leaks/{sha256}": ADMIN,
    # The noise of scores is one more number about the answers, and for readers of results alone.
    "GET /v1/submissions/{submission_id}/uncertainty": RESEARCHER,
    "GET /v1/experiments/{name}/uncertainty": RESEARCHER,
    "GET /v1/experiments/{name}/selection": RESEARCHER,
    "GET /runs/{run_id}/changes": RESEARCHER,
    "GET /operations/imports": ADMIN,
    "GET /operations/imports/{import_id}": ADMIN,
    "POST /operations/imports": LOGIN,
    "GET /experiments/{name}/receipts": RESEARCHER,
}


def routes(found: list[Any]) -> Iterator[tuple[str, str]]:
    """Every method and path of the application."""
    for route in found:
        methods = set(route.methods)
        if len(methods) > 2:
            yield "ANY", route.path
        else:
            yield from ((method, route.path) for method in methods - {"HEAD"})


def line(method: str, path: str) -> str:
    """A route as the table names it: Kaggle's two prefixes are left out."""
    for prefix in ("/api/v1/", "/v1/"):
        if path.startswith(prefix) and "Service/" in path:
            return f"{method} /{path.removeprefix(prefix)}"
    return f"{method} {path}"


def is_kaggles(path: str) -> bool:
    """Whether a call is for runs' keys, so that an admin's may be refused."""
    return "Service/" in path or path == "/validate" or path.startswith(REST)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    app = create_app(Settings(data_dir=tmp_path_factory.mktemp("unused")))
    return list(routes(app.routes))


def test_the_table_names_every_route(found: list[tuple[str, str]]) -> None:
    assert {line(*one) for one in found} == set(TABLE)


def test_every_route_asks_for_the_role_in_the_table(
    podium: Podium, tiny: Path, found: list[tuple[str, str]]
) -> None:
    run = podium.run(tiny)
    known = {
        "{run_id}": run.id, "{slug}": tiny.name, "{name}": run.document["experiment"],
        "{name:path}": "sample_submission.csv", "{submission_id}": "sub_x", "{key_id}": "key_x",
        "{suite_name}": "mle-bench", "{suite}": "mle-bench",
        "{form}": "none",  # to draw takes a second, and the key is looked at before
        "{token}": "x", "{rest:path}": "x", "{regrade_id}": "rgr_x",
        "{competitionName}": tiny.name, "{fileName:path}": "sample_submission.csv",
        "{contentLength}": "1", "{modified}": "1", "{receipt_id}": "rcp_x",
        "{import_id}": "imp_x", "{number}": "0",
    }  # fmt: skip
    nobody, researcher = podium.client(), podium.client(podium.researcher_key())
    harness = podium.client(podium.harness_key(run.document["experiment"]))

    for method, path in found:
        address = path
        for placeholder, value in known.items():
            address = address.replace(placeholder, value)
        wanted = TABLE[line(method, path)]
        method = "POST" if method == "ANY" else method
        where = f"{method} {path}"
        assert (status(nobody, method, address) == 401) == (wanted not in (PUBLIC, SIGNED)), where
        if wanted is LOGIN:
            assert status(podium.admin, method, address) == 401, where
            continue
        if wanted in (HARNESS, RESEARCHER, ADMIN):
            assert status(run.client, method, address) == 403, where
        if wanted in (ANY, RESEARCHER, ADMIN):
            assert status(harness, method, address) == 403, where
        elif wanted in (EVERY, HARNESS):
            assert status(harness, method, address) not in (401, 403), where
        if wanted is ADMIN:
            assert status(researcher, method, address) == 403, where
        elif wanted in (HARNESS, RESEARCHER):
            assert status(researcher, method, address) not in (401, 403), where
        if wanted is not SIGNED and not is_kaggles(path):
            assert status(podium.admin, method, address) not in (401, 403), where


def status(client: httpx.Client, method: str, address: str) -> int:
    """The status of a call with no body; an event stream is left after its head."""
    with client.stream(method, address) as response:
        return response.status_code
