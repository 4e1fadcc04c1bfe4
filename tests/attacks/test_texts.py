"""Texts in addresses and bodies that a database does not take, or that name two things at once.

PostgreSQL takes no NUL in a text, where SQLite does. So these are sent to a server on PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.api.conftest import Podium
from tests.factories import good_submission
from tests.server import PodiumServer

NUL = "a%00b"


@pytest.fixture(scope="module")
def server(
    postgres: Any, migrated_postgres: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PodiumServer]:
    with postgres.emptied(migrated_postgres) as name:
        folder = tmp_path_factory.mktemp("server") / "data"
        started = PodiumServer(folder, postgres.url(name), graders=1).start()
        yield started
        started.stop()


def addresses(client: httpx.Client, known: dict[str, str]) -> list[tuple[str, str]]:
    """Each operation that has parameters in its path, with a NUL in one and the others `known`."""
    paths = client.get("/openapi.json").json()["paths"]
    found = []
    for path, operations in paths.items():
        names = [part[1:].split("}")[0] for part in path.split("/") if part.startswith("{")]
        for odd in names:
            address = path
            for name in names:
                value = NUL if name == odd else known.get(name, "x")
                address = address.replace("{" + name + "}", value)
            found += [(method.upper(), address) for method in operations]
    return found


def test_a_nul_in_an_address_is_not_found_or_refused(podium: Podium) -> None:
    folder = podium.competition()
    run = podium.run(folder)
    sent = run.submit(good_submission(folder)).json()
    known = {"run_id": run.id, "slug": folder.name, "submission_id": sent["id"],
             "name": run.document["experiment"], "suite_name": "podium"}  # fmt: skip
    asked = addresses(podium.admin, known)
    pages = ("", "/medals-over-time", "/receipts", "/heat-map.svg", "/medals-over-time.svg")
    asked += [("GET", f"/experiments/{NUL}{rest}") for rest in pages]
    assert len(asked) > 60
    body = {"reason": "a reason"}

    answers = {
        (method, path): podium.admin.request(
            method, path, json=body if method in ("POST", "PUT", "PATCH") else None
        ).status_code
        for method, path in asked
    }

    assert {one: status for one, status in answers.items() if status >= 500} == {}
    assert answers["GET", f"/v1/experiments/{NUL}"] == 404


def test_a_nul_in_a_reason_or_note_is_refused(podium: Podium) -> None:
    folder = podium.competition()
    run = podium.run(folder)
    run.submit(good_submission(folder))

    for text in ("\0", "a\0b"):
        review = {"decision": "annotate", "reason": text}
        leak = {"sha256": "0" * 64, "note": text}
        answers = [
            podium.admin.post(f"/v1/runs/{run.id}/review", json=review),
            podium.admin.post(f"/v1/competitions/{folder.name}/known-leaks", json=leak),
        ]
        assert [one.status_code for one in answers] == [422, 422]
        assert "NUL" in answers[0].text


def test_a_nul_in_the_reason_of_a_form_is_refused(podium: Podium) -> None:
    run = podium.run(podium.competition())
    browser = podium.client()
    browser.headers["Accept"] = "text/html"
    assert browser.post("/login", data={"key": podium.server.key}).status_code == 303
    address = f"/operations/reviews/{run.id}"
    token = browser.get(address).text.split('name="token" value="')[1].split('"')[0]

    review = {"token": token, "decision": "annotate", "reason": "a\0b"}
    answer = browser.post(address, data=review)

    assert (answer.status_code, "NUL" in answer.text) == (422, True)
    assert browser.post(address, data={**review, "reason": "ab"}).status_code == 303
    decisions = podium.admin.get(f"/v1/runs/{run.id}/review").json()["decisions"]
    assert [one["reason"] for one in decisions] == ["ab"]


def test_an_experiment_to_compare_with_is_one(podium: Podium) -> None:
    """Where several may be named, commas stand between them; here one is."""
    folder = podium.competition()
    run = podium.run(folder)
    run.submit(good_submission(folder))
    podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})
    name = run.document["experiment"]

    for other in (",,", f"{name},{name}", f",{name}"):
        scores = podium.admin.get(f"/v1/experiments/{name}/scores", params={"against": other})
        compared = podium.admin.get("/v1/compare", params={"a": name, "b": other})
        assert (scores.status_code, compared.status_code) == (404, 404), other
