"""A key that ends while its request's body is sent: nothing is done, and nothing is told."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator

import pytest

from tests.api.conftest import CSV, Podium, Run, packed
from tests.attacks.test_keys_that_end import ENDS, INVALID, End, archive, revoke
from tests.factories import good_submission

RPC = "/api/v1/competitions.CompetitionApiService"
JSON = {"Content-Type": "application/json"}
BOUNDARY = "boundary"
FORM = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}


def body_during_which(data: bytes, end: Callable[[], object]) -> Iterator[bytes]:
    """A body in two parts, between which the key ends."""
    yield data[:7]
    time.sleep(0.2)
    end()
    yield data[7:]


def close(podium: Podium, run: Run) -> None:
    """Close the run: its key goes on."""
    assert podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"}).status_code == 200


def form(name: str, file: str, data: bytes) -> bytes:
    """A form with one file."""
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"; filename="{file}"\r\n'
    return head.encode() + b"\r\n" + data + f"\r\n--{BOUNDARY}--\r\n".encode()


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("path", ["validate", "submissions", "checker"])
def test_an_agent_learns_nothing_of_a_file(podium: Podium, end: End, path: str) -> None:
    run = podium.run(podium.competition(), feedback="full")
    data, headers, address = INVALID, CSV, f"/v1/runs/{run.id}/{path}"
    if path == "checker":
        data, headers, address = form("file", "a.csv", INVALID), FORM, "/validate"

    answer = run.client.post(
        address, content=body_during_which(data, lambda: end(podium, run)), headers=headers
    )

    assert answer.status_code == (403 if end is archive else 401)
    assert "rows" not in answer.text
    assert podium.admin.get(f"/v1/runs/{run.id}/submissions").json()["items"] == []
    assert podium.admin.get(f"/v1/runs/{run.id}/exposure").json()["totals"]["validations"] == 0


def test_kaggles_client_learns_no_score(podium: Podium) -> None:
    folder = podium.competition()
    run = podium.run(folder, feedback="full")
    run.submit(good_submission(folder, shift=0.125))
    call = json.dumps({"competitionName": folder.name}).encode()

    answer = run.client.post(
        f"{RPC}/ListSubmissions",
        content=body_during_which(call, lambda: revoke(podium, run)),
        headers=JSON,
    )

    assert (answer.status_code, "0.12" in answer.text) == (401, False)


@pytest.mark.parametrize(
    ("end", "status", "why"),
    [(revoke, 403, "no longer valid"), (close, 409, "is closed and accepts nothing more")],
)
@pytest.mark.parametrize("is_before", [True, False])
def test_an_upload_address_takes_no_file(
    podium: Podium, end: End, status: int, why: str, is_before: bool
) -> None:
    run = podium.run(folder := podium.competition())
    announced = {"competitionName": folder.name, "contentLength": len(INVALID), "fileName": "a.csv"}
    started = run.client.post(f"{RPC}/StartSubmissionUpload", json=announced).json()
    if is_before:
        end(podium, run)

    body = INVALID if is_before else body_during_which(INVALID, lambda: end(podium, run))
    answer = podium.client().put(started["createUrl"], content=body)

    assert (answer.status_code, why in answer.text) == (status, True)


def test_a_revoked_admin_makes_no_key_and_imports_nothing(podium: Podium) -> None:
    folder = podium.folder()
    archived = form("archive", f"{folder.name}.tar.gz", packed(folder))
    for address, data, headers in (
        ("/v1/keys", b'{"role": "admin", "name": "a second one"}', JSON),
        ("/v1/competitions", archived, FORM),
    ):
        made = podium.admin.post("/v1/keys", json={"role": "admin", "name": "ends"}).json()
        ended = f"/v1/keys/{made['id']}"

        answer = podium.client(made["key"]).post(
            address,
            content=body_during_which(data, lambda ended=ended: podium.admin.delete(ended)),
            headers=headers,
        )

        assert answer.status_code == 401
        assert "was revoked" in answer.json()["detail"]
    names = [one["name"] for one in podium.admin.get("/v1/keys?limit=1000").json()["items"]]
    assert "a second one" not in names
    assert podium.admin.get(f"/v1/competitions/{folder.name}").status_code == 404


def test_a_slow_body_of_a_valid_key_is_taken(podium: Podium) -> None:
    run = podium.run(podium.competition())

    answer = run.client.post(
        f"/v1/runs/{run.id}/validate",
        content=body_during_which(INVALID, lambda: None),
        headers=CSV,
    )

    assert (answer.status_code, answer.json()["valid"]) == (200, False)
