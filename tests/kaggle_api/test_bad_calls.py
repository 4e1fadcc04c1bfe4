"""Whatever is sent to Kaggle's API, the answer is `{code, message}` and never a traceback."""

from __future__ import annotations

import base64
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from app.kaggle_api.signed_urls import SignedUrls
from app.storage.database.database import Database
from app.storage.queries.operation import secrets

SERVICE = "/api/v1/competitions.CompetitionApiService"
METHODS = [
    "ListCompetitions", "GetCompetition", "ListDataFiles", "DownloadDataFiles", "DownloadDataFile",
    "StartSubmissionUpload", "CreateSubmission", "GetSubmission", "ListSubmissions",
    "GetSubmissionLimits", "GetLeaderboard", "DownloadLeaderboard", "ListCompetitionPages",
    "DownloadSubmission",
]  # fmt: skip
BODIES = [
    b"{", b"[]", b"null", b'"x"', b"\xff", b"[" * 100_000, b"1e999",
    b'{"competitionName": 1}', b'{"competitionName": ["x"]}', b'{"competitionName": "\\u0000"}',
    b'{"competitionName": "\\ud800"}', b'{"competitionName": "../../etc"}',
    b'{"pageToken": "x", "competitionName": "SLUG"}', b'{"pageSize": -5}',
    b'{"page": 1e400, "competitionName": "SLUG"}', b'{"ref": "x"}', b'{"ref": 99}',
    b'{"ref": 9007199254740992}', b'{"competitionName": "SLUG", "blobFileTokens": "x.y"}',
    b'{"competitionName": "SLUG", "blobFileTokens": {}}', b'{"search": {}}',
    b'{"competitionName": "SLUG", "fileName": "../private/answers.csv"}',
    b'{"competitionName": "SLUG", "contentLength": true}',
    b'{"competitionName": "SLUG", "pageToken": "999999999999999", "pageSize": 5}',
]  # fmt: skip


def is_refusal(response: httpx.Response) -> None:
    body = response.json()
    assert response.headers["Content-Type"] == "application/json"
    assert set(body) == {"code", "message"}
    assert body["code"] == response.status_code >= 400
    assert body["message"]
    assert response.status_code < 500, body


def start(run, slug: str, data: bytes) -> dict:  # type: ignore[type-arg]
    body = {"competitionName": slug, "fileName": "s.csv", "contentLength": len(data)}
    response = run.client.post(f"{SERVICE}/StartSubmissionUpload", json=body)
    assert response.status_code == 200, response.text
    return response.json()


def create(run, slug: str, token: str) -> httpx.Response:
    body = {"competitionName": slug, "blobFileTokens": token, "submissionDescription": "d"}
    return run.client.post(f"{SERVICE}/CreateSubmission", json=body)


def put(url: str, data: bytes, **more) -> httpx.Response:  # type: ignore[no-untyped-def]
    return httpx.put(url, content=data, trust_env=False, **more)


def secret_of_database(server) -> bytes:  # type: ignore[no-untyped-def]
    url = server.environment["PODIUM_DATABASE_URL"] or f"sqlite:///{server.data_dir}/podium.db"
    database = Database(url)
    try:
        with database.read() as session:
            found = secrets.find(session, "url-secret")
    finally:
        database.close()
    assert found is not None
    return found


@pytest.mark.parametrize("method", METHODS)
def test_nonsense_is_refused_in_words(podium, tiny, method):
    run = podium.run(tiny)
    for body in BODIES:
        data = body.replace(b"SLUG", tiny.name.encode())
        response = run.client.post(f"{SERVICE}/{method}", content=data)
        if response.status_code >= 400:
            is_refusal(response)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (json.dumps({f"f{number}": 0 for number in range(100)}).encode(), 200),
        (json.dumps({f"f{number}": 0 for number in range(101)}).encode(), 400),
        (b"{}" + b" " * (32 * 1024 - 2), 200),
        (b"{}" + b" " * (32 * 1024 - 1), 413),
    ],
    ids=["100 fields", "101 fields", "32 KB", "more"],
)
def test_a_call_has_so_many_fields_and_bytes_at_most(podium, tiny, body, status):
    answer = podium.run(tiny).client.post(f"{SERVICE}/ListCompetitions", content=body)

    assert answer.status_code == status
    if status != 200:
        is_refusal(answer)


@pytest.mark.parametrize("method", METHODS)
def test_missing_fields_are_named(podium, tiny, method):
    response = podium.run(tiny).client.post(f"{SERVICE}/{method}", json={})

    if method != "ListCompetitions":
        is_refusal(response)


@pytest.mark.parametrize(
    ("verb", "path"),
    [
        ("POST", f"{SERVICE}/CreateCompetition"),
        ("POST", "/v1/competitions.CompetitionApiService/Nothing"),
        ("POST", "/api/v1/kernels.KernelsApiService/ListKernels"),
        ("GET", f"{SERVICE}/ListCompetitions"),
        ("GET", "/api/v1/datasets/list"),
        ("PUT", "/api/v1/uploads/nonsense"),
        ("PATCH", "/api/v1/models/list"),
        ("OPTIONS", "/api/v1/models/list"),
        ("PUT", "/api/v1/uploads/" + "A" * 5000 + ".AAAA"),
        ("GET", "/api/v1/files/nonsense.nonsense/train.csv"),
        ("POST", f"{SERVICE}/CreateCodeSubmission"),
    ],
)
def test_unknown_calls_are_refused_in_words(podium, tiny, verb, path):
    is_refusal(podium.run(tiny).client.request(verb, path))


@pytest.mark.parametrize("header", ["", "Basic !!!", "Basic YWJj", "Bearer", "Bearer pod_x", "Egg"])
def test_without_a_good_key_it_is_401(podium, header):
    response = podium.client().post(
        f"{SERVICE}/ListCompetitions", headers={"Authorization": header}, json={}
    )

    is_refusal(response)
    assert response.status_code == 401
    assert "WWW-Authenticate" in response.headers


def test_introspection_is_never_401(podium, tiny):
    archived = podium.run(tiny)
    podium.admin.post(f"/v1/runs/{archived.id}/archive", json={"reason": "a trial"})
    key = podium.run(tiny).document["key"]
    path = "/api/v1/security.OAuthService/IntrospectToken"
    ask = lambda body: podium.client().post(path, json=body)  # noqa: E731

    good, bad, empty = ask({"token": key}), ask({"token": "x"}), ask({})
    of_archived = ask({"token": archived.document["key"]})

    assert (good.json()["active"], bool(good.json()["username"])) == (True, True)
    answers = [(r.status_code, r.json()) for r in (bad, empty, of_archived)]
    assert answers == [(200, {"active": False})] * 3


def test_both_prefixes_and_the_password_are_understood(podium, tiny):
    key = podium.run(tiny).document["key"]
    basic = "Basic " + base64.b64encode(f"anyone:{key}".encode()).decode()
    for prefix in ("/api/v1", "/v1"):
        response = podium.client().post(
            f"{prefix}/competitions.CompetitionApiService/ListCompetitions",
            headers={"Authorization": basic, "User-Agent": ""},
        )
        assert [one["ref"] for one in response.json()["competitions"]] == [tiny.name]


def test_an_upload_address_takes_one_file(podium, tiny, good):
    run = podium.run(tiny)
    started = start(run, tiny.name, good)

    first, second = put(started["createUrl"], good), put(started["createUrl"], good)
    made, again = (create(run, tiny.name, started["token"]) for _ in range(2))

    assert first.status_code == 200
    is_refusal(second)
    assert "Retry-After" not in second.headers
    assert made.json() == again.json()
    assert len(run.client.get(f"/v1/runs/{run.id}/submissions").json()["items"]) == 1


def test_a_call_that_is_sent_several_times_at_once_has_one_answer(podium, tiny, good):
    """The second was told that nothing is left of a quota, or that its file is not there."""
    for _ in range(30):
        run = podium.run(tiny, feedback="none", limits={"submissions_total": 1})
        started = start(run, tiny.name, good)
        assert put(started["createUrl"], good).status_code == 200
        together = threading.Barrier(8)

        def call(run=run, token=started["token"], together=together):
            together.wait()
            return create(run, tiny.name, token)

        with ThreadPoolExecutor(8) as pool:
            answers = [one.result() for one in [pool.submit(call) for _ in range(8)]]

        assert [answer.text for answer in answers] == [answers[0].text] * 8
        assert answers[0].status_code == 200


def test_an_address_takes_no_other_file_after_its_file_was_submitted(podium, tiny, good):
    run = podium.run(tiny)
    started = start(run, tiny.name, good)
    assert put(started["createUrl"], good).status_code == 200
    assert create(run, tiny.name, started["token"]).status_code == 200

    other = put(started["createUrl"], good.replace(b"1", b"2"))

    is_refusal(other)
    assert other.status_code == 409
    assert len(run.client.get(f"/v1/runs/{run.id}/submissions").json()["items"]) == 1


@pytest.mark.parametrize("change", [lambda d: d + b"x", lambda d: d[:-1], lambda d: b""])
def test_other_bytes_than_announced_are_refused_and_may_be_sent_right(podium, tiny, good, change):
    run = podium.run(tiny)
    started = start(run, tiny.name, good)

    whole = put(started["createUrl"], change(good))
    chunked = put(started["createUrl"], (piece for piece in [change(good)]))  # type: ignore[arg-type]

    is_refusal(whole)
    is_refusal(chunked)
    is_refusal(create(run, tiny.name, started["token"]))
    assert put(started["createUrl"], good).status_code == 200
    assert create(run, tiny.name, started["token"]).status_code == 200


def test_an_expired_or_forged_address_is_refused(podium, tiny, good):
    run = podium.run(tiny)
    secret = secret_of_database(podium.server)
    told = {"run": run.id, "bytes": len(good), "name": "s.csv", "nonce": "0" * 24}
    expired = SignedUrls(secret).sign("upload", -1, **told)
    forged = SignedUrls(b"another secret").sign("upload", 60, **told)
    misused = SignedUrls(secret).sign("download", 60, **told)

    for token in (expired, forged, misused):
        response = put(f"{podium.server.url}/api/v1/uploads/{token}", good)
        is_refusal(response)
        assert response.status_code == 403


def test_an_upload_of_another_run_is_refused(podium, tiny, good):
    one, other = podium.run(tiny), podium.run(tiny)
    started = start(one, tiny.name, good)
    put(started["createUrl"], good)

    refused = create(other, tiny.name, started["token"])
    is_refusal(refused)
    assert (refused.status_code, "uploaded for another run" in refused.text) == (404, True)


def test_a_file_that_is_too_large_is_refused_before_it_is_sent(podium, tiny):
    run, most = podium.run(tiny), 32 * 1024**2  # as the server of these tests has it
    for size, status in ((most, 200), (most + 1, 413)):
        body = {"competitionName": tiny.name, "fileName": "s.csv", "contentLength": size}
        answer = run.client.post(f"{SERVICE}/StartSubmissionUpload", json=body)
        assert answer.status_code == status, answer.text
    assert f"{most + 1} bytes; this service accepts 32 MB" in answer.json()["message"]


def test_the_address_leads_where_the_client_came_from(podium, tiny, good):
    run = podium.run(tiny)
    body = {"competitionName": tiny.name, "contentLength": 1}
    for host, expected in (("localhost", "http://localhost/"), ("[::1]:80", "http://[::1]:80/")):
        response = run.client.post(
            f"{SERVICE}/StartSubmissionUpload", json=body, headers={"Host": host}
        )
        assert response.json()["createUrl"].startswith(expected)
    bad = run.client.post(
        f"{SERVICE}/StartSubmissionUpload", json=body, headers={"Host": "a b/<x>"}
    )
    is_refusal(bad)


def test_nothing_is_forwarded_anywhere(podium, tiny):
    """An absolute-form target of another host and CONNECT are refused, and the host is named."""
    with socket.create_server(("127.0.0.1", 0)) as elsewhere:
        elsewhere.settimeout(0.3)
        host = f"127.0.0.1:{elsewhere.getsockname()[1]}"
        for line in (f"GET http://{host}/nothing HTTP/1.1", f"CONNECT {host} HTTP/1.1"):
            with socket.create_connection(("127.0.0.1", podium.server.port), 5) as client:
                request = f"{line}\r\nHost: {host}\r\nConnection: close\r\n\r\n"
                client.sendall(request.encode())
                answer = client.recv(4096)
            assert answer.split(b" ", 2)[1] == b"421", line
            problem = json.loads(answer.partition(b"\r\n\r\n")[2])
            assert f"not a proxy for {host}" in problem["detail"]
            assert podium.client().get(problem["type"]).status_code == 200
        with pytest.raises(TimeoutError):
            elsewhere.accept()


def test_an_absolute_form_target_is_served(podium, tiny):
    key = podium.run(tiny).document["key"]
    with socket.create_connection(("127.0.0.1", podium.server.port), 5) as client:
        client.sendall(
            f"POST http://localhost{SERVICE}/ListCompetitions HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: Bearer {key}\r\nContent-Length: 0\r\n"
            "Connection: close\r\n\r\n".encode()
        )
        answer = b""
        while data := client.recv(65536):
            answer += data
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b" 200 " in head.splitlines()[0]
    assert json.loads(body)["competitions"][0]["ref"] == tiny.name


def test_an_address_of_another_protocol_is_refused(podium):
    port = podium.server.port
    with socket.create_connection(("127.0.0.1", port), 5) as client:
        line = f"GET ftp://127.0.0.1:{port}/healthz HTTP/1.1\r\nHost: here\r\n\r\n"
        client.sendall(line.encode())
        answer = client.recv(4096)

    assert answer.split(b" ", 2)[1] == b"400"
    assert "begins with http://" in json.loads(answer.partition(b"\r\n\r\n")[2])["detail"]


def test_submissions_are_found_by_their_number_and_page_by_page(podium, tiny, good):
    run, other = podium.run(tiny), podium.run(tiny)
    refs = []
    for _ in range(3):
        started = start(run, tiny.name, good)
        put(started["createUrl"], good)
        refs.append(create(run, tiny.name, started["token"]).json()["ref"])
    ask = lambda who, **body: who.client.post(f"{SERVICE}/GetSubmission", json=body)  # noqa: E731

    found = ask(run, ref=refs[1])
    is_refusal(ask(other, ref=refs[1]))
    listed, token = [], ""
    while True:
        body = {"competitionName": tiny.name, "pageSize": 2, "pageToken": token}
        page = run.client.post(f"{SERVICE}/ListSubmissions", json=body).json()
        listed += [one["ref"] for one in page["submissions"]]
        token = page["nextPageToken"]
        if not token:
            break
        run.submit(good)  # what comes meanwhile moves nothing to a later page

    assert (found.json()["ref"], found.json()["status"]) == (refs[1], "COMPLETE")
    assert listed == refs[::-1]


@pytest.mark.parametrize("limits", [{}, {"submissions_per_day": 5}, {"hours": 1e-6}], ids=str)
def test_a_run_that_is_over_may_send_nothing_more(podium, tiny, limits):
    run = podium.run(tiny, limits=limits)
    run.client.post(f"{SERVICE}/ListCompetitions", json={})  # it starts the clock
    if "hours" in limits:
        time.sleep(0.05)
    else:
        closed = podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})
        assert closed.status_code == 200

    told = run.client.post(f"{SERVICE}/GetSubmissionLimits", json={"competitionName": tiny.name})
    guide = run.client.get("/SKILL.md").text

    assert (told.json()["numAllowedNow"], told.json()["limitedByTotal"]) == (0, True)
    assert "Submissions that you may send now: 0." in guide


def test_of_files_that_are_never_submitted_only_the_latest_are_kept(podium, tiny, good):
    run = podium.run(tiny)
    tokens = []
    for _ in range(6):
        started = start(run, tiny.name, good)
        assert put(started["createUrl"], good).status_code == 200
        tokens.append(started["token"])

    answers = [create(run, tiny.name, token).status_code for token in tokens]

    assert answers == [400, 400, 200, 200, 200, 200]
