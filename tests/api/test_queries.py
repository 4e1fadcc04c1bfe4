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


def test_five_mistakes_are_told_each_name_in_fifty_characters(podium: Podium) -> None:
    names = [f"{number}" * 60 for number in range(6)]
    detail = podium.admin.get("/v1/runs", params=dict.fromkeys(names, "x")).json()["detail"]

    for name in names[:5]:
        assert f"query.{name[:50]}: unknown parameter; " in detail
    assert names[5][:9] not in detail


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("/v1/medal-rates?suite=mle-bench-low&suite=mle-bench", "suite"),
        ("/v1/medal-rates?padding=fail&padding=none", "padding"),
        ("/v1/suites/mle-bench/items?rate=gold&rate=gold", "rate"),
        ("/v1/runs?limit=1&limit=2", "limit"),
        ("/v1/experiments?archived=true&archived=false", "archived"),
        ("/v1/experiments/x/grading-report?seed=1&seed=2", "seed"),
        ("/suites/mle-bench?padding=fail&padding=none", "padding"),
    ],
)
def test_a_parameter_with_one_value_is_not_given_twice(
    podium: Podium, address: str, name: str
) -> None:
    response = podium.admin.get(address)

    assert response.status_code == 422
    assert f"query.{name}: it is given 2 times, and takes one value." in response.text


@pytest.mark.parametrize("experiments", ["", ",", " , ", "x&experiments="])
@pytest.mark.parametrize(
    "address", ["/v1/medal-rates?", "/v1/compare?", "/v1/suites/mle-bench/items?", "/v1/plan?"]
)
def test_a_list_of_nothing_does_not_mean_all(
    podium: Podium, address: str, experiments: str
) -> None:
    response = podium.admin.get(f"{address}experiments={experiments}")

    assert response.status_code == 422
    assert "query.experiments: it names nothing" in response.json()["detail"]


def test_all_mistakes_of_a_query_are_told_at_once(podium: Podium) -> None:
    response = podium.admin.get("/v1/medal-rates?sute=x&padding=fail&padding=none&experiments=")

    for name in ("sute", "padding", "experiments"):
        assert f"query.{name}: " in response.json()["detail"]


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


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("/v1/competitions/{slug}/standing?score=1_0", "query.score"),
        ("/v1/runs?limit=1_0", "query.limit"),
        ("/v1/log/entries?start=0_1", "query.start"),
        ("/v1/log/entries/1_0", "path.number"),
    ],
)
def test_a_number_has_no_underscores(podium: Podium, tiny: Path, address: str, name: str) -> None:
    """Python reads 1_0 as 10."""
    response = podium.admin.get(address.format(slug=tiny.name))

    assert response.status_code == 422, response.text
    words = "expected a number in decimal digits, without underscores"
    assert f"{name}: {words}" in response.json()["detail"]
    plain = podium.admin.get(address.format(slug=tiny.name).replace("_", ""))
    assert plain.status_code in (200, 404)


def test_a_number_in_a_body_has_no_underscores(podium: Podium, tiny: Path) -> None:
    body = {"experiment": podium.experiment(), "competition": tiny.name, "seed": 0}
    refused = podium.admin.post("/v1/runs", json={**body, "limits": {"submissions_total": "1_0"}})

    assert refused.status_code == 422, refused.text
    assert "without underscores" in refused.json()["detail"]
    assert (
        podium.admin.post("/v1/runs", json={**body, "limits": {"hours": "10"}}).status_code == 201
    )


def test_a_number_in_a_body_is_neither_true_nor_false(podium: Podium, tiny: Path) -> None:
    """`"hours": true` made a run of one hour."""
    run = podium.run(tiny)

    for field in ("seconds", "cost_usd", "steps"):
        body = {"usage": {field: True}}
        refused = podium.admin.patch(f"/v1/runs/{run.id}", json=body)
        assert refused.status_code == 422
        assert refused.json()["errors"] == [
            {"where": f"body.usage.{field}", "message": "expected a number, not true or false"}
        ]
    assert podium.admin.get(f"/v1/runs/{run.id}").json()["usage"] is None
