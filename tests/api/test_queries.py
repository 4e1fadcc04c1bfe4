"""A typo in a query, or a media type that is not there, is refused: it never changes a number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.api.conftest import Podium


def test_every_native_address_refuses_unknown_parameters(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny)
    known = {"run_id": run.id, "slug": tiny.name, "name": run.document["experiment"],
             "suite_name": "mle-bench", "submission_id": "sub_x"}  # fmt: skip
    paths = podium.admin.get("/openapi.json").json()["paths"]
    asked = [
        path for path, methods in paths.items() if path.startswith("/v1/") and "get" in methods
    ]

    for path in asked:
        address = re.sub(r"\{(\w+)\}", lambda found: known.get(found[1], "x"), path)
        response = podium.admin.get(address, params={"nonsense": "1"})
        assert response.status_code == 422, path
        assert "query.nonsense: unknown parameter" in response.json()["detail"]

    assert len(asked) > 20


@pytest.mark.parametrize(
    ("address", "words"),
    [
        (
            "/v1/medal-rates?sute=mle-bench-low",
            "query.sute: unknown parameter; did you mean suite?",
        ),
        ("/v1/runs?experimnt=x", "did you mean experiment?"),
        ("/v1/competitions?Q=x&limt=3", "query.limt: unknown parameter; did you mean limit?"),
    ],
)
def test_the_nearest_name_is_told(podium: Podium, address: str, words: str) -> None:
    response = podium.admin.get(address)

    assert response.status_code == 422
    assert words in response.json()["detail"]


def test_known_parameters_still_pass(podium: Podium) -> None:
    assert podium.admin.get("/v1/runs?experiment=x&limit=3").status_code == 200


@pytest.mark.parametrize("accept", ["application/x-latex", "text/csv;q=0", "image/png"])
def test_a_form_that_is_not_there_is_406(podium: Podium, accept: str) -> None:
    # The experiments of other tests here have no competition in common.
    address = f"/v1/medal-rates?experiments={podium.experiment()}"
    response = podium.admin.get(address, headers={"Accept": accept})

    assert response.status_code == 406
    assert response.json()["type"] == "/problems/not-acceptable"
    assert "text/markdown" in response.json()["detail"]


@pytest.mark.parametrize(
    ("accept", "answer"),
    [
        ("*/*", "application/json"),
        ("", "application/json"),
        ("text/html,application/xhtml+xml,*/*;q=0.8", "application/json"),
        ("text/*", "text/csv"),
        ("application/x-latex, text/markdown;q=0.1", "text/markdown"),
    ],
)
def test_a_form_that_is_there_is_given(podium: Podium, accept: str, answer: str) -> None:
    # The experiments of other tests here have no competition in common.
    address = f"/v1/medal-rates?experiments={podium.experiment()}"
    response = podium.admin.get(address, headers={"Accept": accept})

    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith(answer)
