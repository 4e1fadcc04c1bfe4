from __future__ import annotations

import gzip
import hashlib
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pyarrow as pa
import pytest

from tests.api.conftest import CSV, Podium
from tests.factories import good_submission


def zstd(data: bytes) -> bytes:
    return pa.compress(data, codec="zstd", asbytes=True)


def test_a_good_file_is_graded_inside_the_wait(podium: Podium, tiny: Path, good: bytes) -> None:
    run = podium.run(tiny, feedback="full")

    response = run.submit(good, **{"X-Podium-Message": "first try"})

    assert response.status_code == 201
    assert response.headers["Preference-Applied"] == "wait=30"
    submission = response.json()
    assert response.headers["Location"] == f"/v1/submissions/{submission['id']}"
    assert submission["state"] == "graded"
    assert submission["message"] == "first try"
    assert submission["bytes"] == len(good)
    assert submission["sha256"] == hashlib.sha256(good).hexdigest()
    assert submission["run_seconds"] > 0
    assert submission["warnings"] == []
    grade = submission["grade"]
    assert grade["score"] == pytest.approx(0.12)
    assert grade["public_score"] == pytest.approx(0.12)
    assert (grade["medal"], grade["better"], grade["equal"], grade["worse"]) == ("bronze", 2, 0, 10)
    assert grade["competition_version"] == 1
    assert grade["grader"]["metric"] == "root_mean_squared_error"
    assert "numpy-" in grade["grader"]["environment"]
    assert run.client.get(response.headers["Location"]).json() == submission


def test_a_wait_in_a_second_header_prefer_is_read(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny, feedback="full")
    headers = [*CSV.items(), ("Prefer", "return=minimal"), ("Prefer", "wait=30")]

    response = run.client.post(
        f"/v1/runs/{run.id}/submissions", content=good_submission(tiny), headers=headers
    )

    assert (response.status_code, response.json()["state"]) == (201, "graded")


@pytest.mark.parametrize(
    ("prefer", "applied"),
    [
        ("wait=1e3", None),
        ("wait=1.5", None),
        ("wait=20s", None),
        ('wait="20', None),
        ("wait=20", "wait=20"),
        ('return=minimal; WAIT = "20", x', "wait=20"),
        ("wait=00000000020;x", "wait=20"),
        ("wait=12345678", "wait=60"),
        ('note="bar wait=20 "', None),
        ('"wait=20", note="\\", wait=20"', None),
        ('note="bar wait=1 ", wait=20', "wait=20"),
        ("wait=1.5, wait=20", None),
        ("wait, wait=20", None),
        ("wait=20, wait=1", "wait=20"),
        ('wait="20"x', None),
    ],
)
def test_a_wait_that_is_no_whole_number_is_ignored(
    podium: Podium, tiny: Path, good: bytes, prefer: str, applied: str | None
) -> None:
    run = podium.run(tiny, feedback="full")

    response = run.submit(good, Prefer=prefer)

    assert response.headers.get("Preference-Applied") == applied
    assert response.status_code == (202 if applied is None else 201)


def test_without_a_wait_the_answer_is_202_and_the_grade_comes(
    podium: Podium, tiny: Path, good: bytes
) -> None:
    run = podium.run(tiny)
    response = run.client.post(f"/v1/runs/{run.id}/submissions", content=good, headers=CSV)

    assert response.status_code == 202
    deadline = time.monotonic() + 20
    while True:
        submission = run.client.get(response.headers["Location"]).json()
        if submission["state"] == "graded":
            break
        assert submission["state"] in ("queued", "grading")
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert submission["settled_at"] >= submission["received_at"]


def test_a_bad_file_is_stored_and_rejected_with_every_problem(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny)
    bad = b"id,target\nr1,abc\nr2,inf\nr2,0\nr99,\n"

    response = run.submit(bad)

    assert response.status_code == 201
    submission = response.json()
    assert submission["state"] == "rejected"
    assert submission["grade"] is None
    codes = [v["code"] for v in submission["problem"]["violations"]]
    assert set(codes) >= {"row_count", "not_a_number", "not_finite", "duplicate_id", "unknown_id",
                          "missing_value", "missing_id"}  # fmt: skip
    assert submission["problem"]["violation_count"] == len(codes)
    assert submission["problem"]["instance"] == f"/v1/submissions/{submission['id']}"
    assert run.client.get(f"/v1/submissions/{submission['id']}/file").content == bad


def test_a_client_that_has_the_file_of_a_submission_is_not_sent_it_again(
    podium: Podium, tiny: Path
) -> None:
    run = podium.run(tiny)
    address = f"{run.submit(good_submission(tiny)).headers['Location']}/file"
    headers = run.client.get(address).headers

    known = [
        run.client.get(address, headers=each)
        for each in (
            {"If-None-Match": headers["ETag"]},
            {"If-Modified-Since": headers["Last-Modified"]},
            {"If-None-Match": headers["ETag"], "Range": "bytes=1-3"},
        )
    ]
    other = run.client.get(address, headers={"If-None-Match": '"other"'})

    assert [(one.status_code, one.content) for one in known] == [(304, b"")] * 3
    assert (other.status_code, other.content) == (200, good_submission(tiny))


def test_harmless_oddities_are_warnings(podium: Podium, tiny: Path, good: bytes) -> None:
    run = podium.run(tiny)
    lines = good.decode().splitlines()
    odd = "\n".join(f"{i}," + line for i, line in enumerate(lines)) + "\n\n"

    submission = run.submit(odd.replace("0,id", ",id", 1).encode()).json()

    assert submission["state"] == "graded"
    assert [w["code"] for w in submission["warnings"]] == ["unknown_column", "blank_lines"]


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "zstd"])
def test_packed_bodies_are_stored_unpacked(
    podium: Podium, tiny: Path, good: bytes, encoding: str
) -> None:
    run = podium.run(tiny)
    packed = zstd(good) if encoding == "zstd" else gzip.compress(good)

    submission = run.submit(packed, **{"Content-Encoding": encoding}).json()

    assert submission["state"] == "graded"
    assert submission["sha256"] == hashlib.sha256(good).hexdigest()


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_packed_body_may_have_several_parts_and_padding_and_may_be_empty(
    podium: Podium, tiny: Path, good: bytes, encoding: str
) -> None:
    run, pack = podium.run(tiny), gzip.compress if encoding == "gzip" else zstd

    body = pack(good[:50]) + pack(good[50:]) + (b"\0" * 100_000 if encoding == "gzip" else b"")

    whole = run.submit(body, **{"Content-Encoding": encoding}).json()
    empty = run.submit(b"", **{"Content-Encoding": encoding}).json()

    assert whole["state"] == "graded"
    assert empty["problem"]["violations"][0]["code"] == "empty_file"


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_bomb_is_refused_and_nothing_is_stored(podium: Podium, tiny: Path, encoding: str) -> None:
    run = podium.run(tiny)
    huge = b"0" * (40 * 1024 * 1024)
    packed = gzip.compress(huge) if encoding == "gzip" else zstd(huge)

    response = run.submit(packed, **{"Content-Encoding": encoding})

    assert response.status_code == 413
    assert run.client.get(f"/v1/runs/{run.id}/submissions").json()["items"] == []


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
@pytest.mark.parametrize("cut", [0, 1])
def test_broken_compression_is_told(
    podium: Podium, tiny: Path, good: bytes, encoding: str, cut: int
) -> None:
    run = podium.run(tiny)
    packed = gzip.compress(good) if encoding == "gzip" else zstd(good)
    body = packed[: len(packed) // 2] if cut else good

    response = run.submit(body, **{"Content-Encoding": encoding})

    assert response.status_code == 400
    assert f"complete {encoding} data" in response.json()["detail"]


def test_multipart_is_taken_as_well(podium: Podium, tiny: Path, good: bytes) -> None:
    run = podium.run(tiny)
    path = f"/v1/runs/{run.id}/submissions"

    sent = run.client.post(path, files={"file": ("s.csv", good)}, headers={"Prefer": "wait=30"})
    wrong = run.client.post(path, files={"upload": ("s.csv", good)})
    text = run.client.post(path, data={"file": "no file"}, files={"x": ("", b"")})

    assert sent.json()["state"] == "graded"
    assert (wrong.status_code, text.status_code) == (422, 422)
    assert "'file'" in wrong.json()["detail"]


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("fünf Bäume, 二", "fünf Bäume, 二"),
        ("é".encode("latin-1"), "é"),
        ("é" * 500, "é" * 500),
    ],
    ids=["UTF-8", "Latin-1", "500 characters"],
)
def test_a_note_in_the_header_is_utf_8(
    podium: Podium, tiny: Path, good: bytes, sent: str | bytes, stored: str
) -> None:
    run = podium.run(tiny)
    note = sent if isinstance(sent, bytes) else sent.encode()
    headers = {b"X-Podium-Message": note, b"Content-Type": b"text/csv"}

    answer = run.client.post(f"/v1/runs/{run.id}/submissions", content=good, headers=headers)

    assert answer.status_code == 202, answer.text
    assert answer.json()["message"] == stored
    path = answer.headers["Location"]
    assert run.client.get(path).json()["message"] == stored


def test_the_part_message_of_a_form_is_the_note(podium: Podium, tiny: Path, good: bytes) -> None:
    run = podium.run(tiny)
    path = f"/v1/runs/{run.id}/submissions"

    def send(message: str, **headers: str) -> httpx.Response:
        form = {"files": {"file": ("s.csv", good)}, "data": {"message": message}}
        return run.client.post(path, headers=headers, **form)

    assert send("by form").json()["message"] == "by form"
    assert send("by form", **{"X-Podium-Message": "by header"}).json()["message"] == "by header"
    long, broken = send("m" * 501), send("a\x07b")

    assert (long.status_code, broken.status_code) == (422, 400)
    assert "The part message" in long.json()["detail"]
    assert len(run.client.get(path).json()["items"]) == 2


@pytest.mark.parametrize("media_type", ["application/json", "application/x-www-form-urlencoded"])
def test_other_content_types_are_refused_with_what_to_send(
    podium: Podium, tiny: Path, good: bytes, media_type: str
) -> None:
    run = podium.run(tiny)

    response = run.submit(good, **{"Content-Type": media_type})

    assert response.status_code == 415
    assert "text/csv" in response.json()["detail"]


def test_an_unknown_content_encoding_is_refused(podium: Podium, tiny: Path, good: bytes) -> None:
    run = podium.run(tiny)
    assert run.submit(good, **{"Content-Encoding": "br"}).status_code == 415
    twice = [("Content-Type", "text/csv"), *[("Content-Encoding", "gzip")] * 2]
    packed = gzip.compress(good)
    answer = run.client.post(f"/v1/runs/{run.id}/submissions", content=packed, headers=twice)
    assert answer.status_code == 415
    assert "'gzip, gzip' is not supported" in answer.json()["detail"]


def test_a_body_that_is_too_large_is_refused_before_it_is_read(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny)
    head = (
        f"POST /v1/runs/{run.id}/submissions HTTP/1.1\r\nHost: podium\r\n"
        f"Authorization: Bearer {run.document['key']}\r\nContent-Type: text/csv\r\n"
        "Content-Length: 2147483648\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", podium.server.port), timeout=20) as connection:
        connection.sendall(head.encode() + b"id,target\n")
        answer = connection.recv(65536)

    assert answer.startswith(b"HTTP/1.1 413")


def test_a_cut_upload_stores_nothing(podium: Podium, tiny: Path, good: bytes) -> None:
    run = podium.run(tiny)
    head = (
        f"POST /v1/runs/{run.id}/submissions HTTP/1.1\r\nHost: podium\r\n"
        f"Authorization: Bearer {run.document['key']}\r\nContent-Type: text/csv\r\n"
        f"Content-Length: {len(good) + 100}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", podium.server.port), timeout=20) as connection:
        connection.sendall(head.encode() + good)
        time.sleep(0.1)
    time.sleep(0.2)

    assert run.client.get(f"/v1/runs/{run.id}/submissions").json()["items"] == []
    leftovers = [p for p in (podium.server.data_dir / "tmp").rglob("*") if p.is_file()]
    assert leftovers == []


def test_an_idempotency_key_makes_one_submission(podium: Podium, tiny: Path, good: bytes) -> None:
    run = podium.run(tiny)
    key = {"Idempotency-Key": "once"}

    first = run.submit(good, **key)
    again = run.submit(good, **key)
    other = run.submit(good + b"\n", **key)

    assert (first.status_code, again.status_code, other.status_code) == (201, 200, 409)
    assert first.json()["id"] == again.json()["id"]
    assert other.json()["type"] == "/problems/idempotency-mismatch"
    assert len(run.client.get(f"/v1/runs/{run.id}/submissions").json()["items"]) == 1


@pytest.mark.parametrize("lines", [1, 20_000, 400_000], ids=["small", "in memory", "streamed"])
def test_a_request_that_is_repeated_after_the_close_is_answered(
    podium: Podium, tiny: Path, good: bytes, lines: int
) -> None:
    run = podium.run(tiny)
    body, key = good + b"x\n" * lines, {"Idempotency-Key": "once"}
    first = run.submit(body, **key)
    closed = {"state": "closed"}
    podium.admin.patch(f"/v1/runs/{run.id}", json=closed).raise_for_status()

    again = run.submit(body, **key)
    other_file = run.submit(body + b"\n", **key)
    other_key = run.submit(body, **{"Idempotency-Key": "twice"})

    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["id"] == first.json()["id"]
    assert other_file.json()["type"] == "/problems/idempotency-mismatch"
    assert other_key.json()["type"] == "/problems/run-closed"
    assert len(run.client.get(f"/v1/runs/{run.id}/submissions").json()["items"]) == 1


def test_racing_posts_with_one_idempotency_key_make_one_submission(
    podium: Podium, tiny: Path, good: bytes
) -> None:
    run = podium.run(tiny)

    with ThreadPoolExecutor(8) as threads:
        answers = list(
            threads.map(lambda _: run.submit(good, **{"Idempotency-Key": "race"}), range(16))
        )

    assert len({a.json()["id"] for a in answers}) == 1
    assert sorted(a.status_code for a in answers) == [200] * 15 + [201]


def test_the_total_quota_counts_graded_files_alone(podium: Podium, tiny: Path, good: bytes) -> None:
    run = podium.run(tiny, limits={"submissions_total": 2})

    states = [run.submit(body).json()["state"] for body in (b"bad", good, b"worse", good)]
    refused = run.submit(good)

    assert states == ["rejected", "graded", "rejected", "graded"]
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) > 0
    assert refused.json()["type"] == "/problems/quota-exceeded"


def test_the_daily_quota_says_when_the_next_is_free(
    podium: Podium, tiny: Path, good: bytes
) -> None:
    run = podium.run(tiny, limits={"submissions_per_day": 1})
    run.submit(good)

    refused = run.submit(good)

    assert refused.status_code == 429
    assert 86_000 < int(refused.headers["Retry-After"]) <= 86_401


def test_a_quota_holds_against_a_race(podium: Podium, tiny: Path, good: bytes) -> None:
    run = podium.run(tiny, limits={"submissions_total": 3})

    with ThreadPoolExecutor(8) as threads:
        statuses = list(threads.map(lambda _: run.submit(good).status_code, range(12)))

    assert sorted(statuses) == [201] * 3 + [429] * 9


def test_a_run_ends_when_its_hours_are_over(podium: Podium, tiny: Path, good: bytes) -> None:
    run = podium.run(tiny, limits={"hours": 0.0003})  # 1.08 seconds
    chosen = {"submission": run.submit(good).json()["id"]}
    time.sleep(1.2)

    response = run.submit(good)
    selected = run.client.put(f"/v1/runs/{run.id}/selected", json=chosen)
    by_researcher = podium.admin.put(f"/v1/runs/{run.id}/selected", json=chosen)

    assert (response.status_code, selected.status_code, by_researcher.status_code) == (
        409,
        409,
        200,
    )
    assert "hours" in response.json()["detail"]
    assert "hours" in selected.json()["detail"]


def test_submissions_are_listed_oldest_first_in_pages(
    podium: Podium, tiny: Path, good: bytes
) -> None:
    run = podium.run(tiny, feedback="full")
    ids = [run.submit(file).json()["id"] for file in (good, b"bad", good)]
    path = f"/v1/runs/{run.id}/submissions"

    first = run.client.get(path, params={"limit": 2}).json()
    rest = run.client.get(path, params={"limit": 2, "cursor": first["next_cursor"]}).json()

    assert [s["id"] for s in first["items"] + rest["items"]] == ids
    shown = [run.client.get(f"/v1/submissions/{each}").json() for each in ids]
    assert first["items"] + rest["items"] == shown
    assert rest["next_cursor"] is None


def test_a_grade_has_its_fields_in_one_order_wherever_it_is_shown(
    podium: Podium, tiny: Path, good: bytes
) -> None:
    run = podium.run(tiny, feedback="full")
    sent = run.submit(good)
    alone = run.client.get(sent.headers["Location"])
    (listed,) = run.client.get(f"/v1/runs/{run.id}/submissions").json()["items"]
    orders = [list(document["grade"]) for document in (sent.json(), alone.json(), listed)]
    assert orders[0] == orders[1] == orders[2]
    assert orders[0][0] == "score"


def test_a_final_submission_is_chosen(podium: Podium, tiny: Path, good: bytes) -> None:
    run = podium.run(tiny)
    chosen, rejected = run.submit(good).json()["id"], run.submit(b"bad").json()["id"]
    path = f"/v1/runs/{run.id}/selected"

    answer = run.client.put(path, json={"submission": chosen})
    refused = run.client.put(path, json={"submission": rejected})

    assert (answer.json()["selected"], answer.json()["final"]) == (chosen, "selected")
    assert refused.status_code == 409
    assert run.client.get(f"/v1/submissions/{chosen}").json()["selected"] is True


def test_a_researcher_submits_on_a_runs_behalf(podium: Podium, tiny: Path, good: bytes) -> None:
    run = podium.run(tiny, feedback="none")

    response = podium.admin.post(
        f"/v1/runs/{run.id}/submissions", content=good, headers={**CSV, "Prefer": "wait=30"}
    )

    assert response.json()["grade"]["score"] == pytest.approx(0.12)


def test_the_same_bytes_twice_are_two_submissions(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny)
    body = good_submission(tiny)

    assert run.submit(body).json()["id"] != run.submit(body).json()["id"]
