"""The OpenAPI document tells the truth: whatever fits it gets a declared answer, and no 500."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import load_all_checks
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.api.conftest import Podium
from tests.factories import good_submission

load_all_checks()
CHECKS = [
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
EXAMPLES = 12


@pytest.mark.parametrize("role", ["admin", "researcher", "run", "nobody"])
def test_the_document_tells_the_truth(podium: Podium, tiny: Path, role: str) -> None:
    run = podium.run(tiny, feedback="validity")
    run.submit(good_submission(tiny))
    secrets = answer_values(tiny)
    keys = {
        "admin": podium.server.key,
        "researcher": podium.researcher_key(),
        "run": run.document["key"],
        "nobody": "",
    }

    for operation in operations(podium.server.url):
        known = {"run_id": run.id, "slug": tiny.name, "name": run.document["experiment"]}
        try_operation(operation, keys[role], known, secrets)


@functools.cache
def operations(url: str) -> list[Any]:
    """The operations of a server's document, read once for all roles: each has its strategies."""
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
    return [operation.ok() for operation in schema.get_all_operations()]


def try_operation(operation, key: str, known: dict[str, str], secrets: list[str]) -> None:  # type: ignore[no-untyped-def]
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def attempt(case) -> None:  # type: ignore[no-untyped-def]
        # Half of the calls go to things that exist; else nearly all would end in 404.
        if case.path_parameters and len(str(case.path_parameters)) % 2:
            case.path_parameters |= {
                name: value for name, value in known.items() if name in case.path_parameters
            }
        given = {name: v for name, v in (case.headers or {}).items() if name != "Authorization"}
        case.headers = {**given, "Authorization": f"Bearer {key}"} if key else given
        response = case.call()
        case.validate_response(response, checks=CHECKS)
        for secret in secrets:
            assert secret not in response.text

    given(case=operation.as_strategy())(attempt)()


def answer_values(folder: Path) -> list[str]:
    """The answers' values: long random decimals that stand nowhere else."""
    lines = (folder / "private" / "answers.csv").read_text().splitlines()[1:]
    return [line.split(",")[1] for line in lines]
