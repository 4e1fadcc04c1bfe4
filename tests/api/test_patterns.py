"""A value that does not fit a pattern is answered in words, at every address."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from app.api.http.patterns import EXPECTED
from tests.api.conftest import Podium


def patterns(part: Any) -> Iterator[str]:
    """The patterns in an OpenAPI document."""
    if isinstance(part, dict):
        if isinstance(part.get("pattern"), str):
            yield part["pattern"]
        for each in part.values():
            yield from patterns(each)
    elif isinstance(part, list):
        for each in part:
            yield from patterns(each)


def test_every_pattern_of_a_request_has_words(podium: Podium) -> None:
    document = podium.admin.get("/openapi.json").json()
    found = set(patterns(document))

    assert len(found) > 8
    assert found - set(EXPECTED) == set()
    assert set(EXPECTED) - found == set()


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("/v1/experiments/x/pass-at-k?k=a", "query.k: expected whole numbers from 1 to 999999"),
        ("/v1/experiments/x/pass-at-k?k=", "query.k: expected whole numbers from 1 to 999999"),
        ("/v1/experiments/x/medals-over-time?at=0,1,x", "query.at: expected numbers such as 0,1.5"),
        ("/v1/plan?between=1&within=1&seeds=1000000000", "query.seeds: expected whole numbers"),
        ("/v1/plan?competitions=", "query.competitions: expected whole numbers"),
        ("/v1/compare?a=%00&b=x", "query.a: expected text without the character NUL"),
        ("/v1/medal-rates?exclude_flags=A", "query.exclude_flags: expected codes of the letters"),
        ("/v1/submissions/A-B", "path.submission_id: expected an id"),
        ("/v1/competitions/-x", "path.slug: expected the name of a competition"),
    ],
)
def test_parameters_are_told_what_is_expected(podium: Podium, address: str, words: str) -> None:
    response = podium.admin.get(address)

    assert response.status_code == 422
    assert words in response.json()["detail"]
    assert "pattern" not in response.text


@pytest.mark.parametrize("name", ["<b>x</b>/", "a/b", "two\nlines"])
def test_names_are_told_what_is_expected(podium: Podium, name: str) -> None:
    response = podium.admin.post("/v1/experiments", json={"name": name, "agent": "a", "model": "m"})

    assert response.status_code == 422
    (error,) = response.json()["errors"]
    assert error == {
        "where": "body.name",
        "message": "expected text without /, line breaks, tabs and other control characters",
    }


def test_other_faults_keep_their_words(podium: Podium) -> None:
    response = podium.admin.get("/v1/plan?between=101&within=1")

    assert "query.between: Input should be less than or equal to 100" in response.json()["detail"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"name"}', "this is not valid JSON at character 8: Expecting ':' delimiter"),
        (b"{'name': 1}", "this is not valid JSON at character 2: Expecting property name"),
        (b"name=x", "this is not valid JSON at character 1: Expecting value"),
        (b'{"name": "x", "agent": "a", "model": "m", "nam": 1}', "unknown field; /docs lists"),
    ],
)
def test_a_body_that_cannot_be_taken_is_told_why(podium: Podium, body: bytes, message: str) -> None:
    headers = {"Content-Type": "application/json"}
    response = podium.admin.post("/v1/experiments", content=body, headers=headers)

    assert response.status_code == 422
    (error,) = response.json()["errors"]
    assert error["message"].startswith(message)
    assert message in response.json()["detail"]


def test_only_a_body_that_is_no_object_is_told_to_have_a_header(podium: Podium) -> None:
    """That of `limits` was sent: it is not what is missing."""
    body = {"experiment": "x", "competition": "x", "seed": 0, "limits": [24]}
    within = podium.admin.post("/v1/runs", json=body)
    whole = podium.admin.post("/v1/runs", content=b"{}", headers={"Content-Type": "text/plain"})

    assert within.json()["detail"] == "body.limits: expected a JSON object"
    assert whole.json()["detail"] == (
        "body: expected a JSON object, with the header 'Content-Type: application/json'"
    )
