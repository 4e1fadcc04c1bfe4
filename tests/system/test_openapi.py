"""The OpenAPI document tells the truth: whatever fits it gets a declared answer, and no 500."""

from __future__ import annotations

import functools
import http.client
import json
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy
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
EXAMPLES = 6
REFUSED = (401, 403)
REFUSALS = 2  # then an operation is left: a caller is refused before the request is looked at
ROLES = ["admin", "researcher", "harness", "run", "nobody"]
DEEP = b"[" * 60_000
BODIES = {
    "not UTF-8": b'{"name": "\xff\xfe"}',
    "not JSON": b"{",
    "nothing": b"",
    "null": b"null",
    "a number of 5,000 digits": b'{"seed": ' + b"9" * 5000 + b"}",
    "nested 60,000 deep": DEEP,
    "a lone surrogate": rb'{"name": "\ud800"}',
    "a key twice": b'{"name": "a", "name": "b"}',
    "larger than 256 KiB": b'{"notes": "' + b"x" * 300_000 + b'"}',
}
TYPES = ["application/json", "application/json; charset=utf-16", "text/csv", "x/y; q=\xff"]
PARTS = "multipart/form-data; boundary=b"
MULTIPARTS = {
    "cut off": b'--b\r\nContent-Disposition: form-data; name="file"',
    "no part": b"--b--\r\n",
    "a part without a name": b"--b\r\n\r\nx\r\n--b--\r\n",
    "a text where a file belongs": b'--b\r\nContent-Disposition: form-data; name="archive"\r\n\r\n'
    b"\xff\r\n--b--\r\n",
}


@pytest.mark.parametrize("role", ROLES)
def test_the_document_tells_the_truth(podium: Podium, tiny: Path, role: str) -> None:
    key, known = what_exists(podium, tiny, role)
    secrets = answer_values(tiny)
    document = podium.client().get("/openapi.json").text
    with requests.Session() as session:
        session.trust_env = False
        for operation in cases(document):
            refusals = 0
            for case in operation:
                path = aimed(case, known)
                status, text = send(case, session, podium.server.url, key, path)
                assert not [secret for secret in secrets if secret in text], case
                refusals += status in REFUSED and path.items() <= known.items()
                if refusals == REFUSALS:
                    break


@pytest.mark.parametrize("role", ["admin", "run", "nobody"])
def test_a_body_that_cannot_be_read_gets_a_declared_answer(
    podium: Podium, tiny: Path, role: str
) -> None:
    key, known = what_exists(podium, tiny, role)
    document = podium.client().get("/openapi.json").json()
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    connection = http.client.HTTPConnection("127.0.0.1", podium.server.port, timeout=60)
    podium.clients.callback(connection.close)
    tried = 0
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if "requestBody" not in operation:
                continue
            bodies = [(kind, body) for kind in TYPES for body in BODIES.values()]
            bodies += [(PARTS, body) for body in (*MULTIPARTS.values(), *BODIES.values())]
            for kind, body in bodies:
                connection.request(
                    method.upper(), path.format_map(Unknown(known)), body,
                    {**headers, "Content-Type": kind},
                )  # fmt: skip
                answer = connection.getresponse()
                text = answer.read()
                where = f"{method} {path} {kind} {body[:40]!r}: {answer.status} {text!r}"
                assert str(answer.status) in operation["responses"], where[:500]
                assert answer.status < 500, where[:500]
                tried += 1
    assert tried > 500


class Unknown(dict[str, str]):
    """Names for the parameters of a path: those of things that exist, else one of nothing."""

    def __missing__(self, name: str) -> str:
        return "nothing"


def what_exists(podium: Podium, tiny: Path, role: str) -> tuple[str, dict[str, str]]:
    """A key of the role, and the names of a run, its competition and its experiment."""
    run = podium.run(tiny, feedback="validity")
    run.submit(good_submission(tiny))
    keys = {
        "admin": lambda: podium.server.key,
        "researcher": podium.researcher_key,
        "harness": lambda: podium.harness_key(run.document["experiment"]),
        "run": lambda: run.document["key"],
        "nobody": lambda: "",
    }
    known = {"run_id": run.id, "slug": tiny.name, "name": run.document["experiment"]}
    return keys[role](), known


@functools.cache
def cases(document: str) -> list[list[Any]]:
    """Requests that a document allows, and some that it does not: EXAMPLES of each operation.

    They depend on the document alone, so they are made once for the servers and roles.
    """
    schema = schemathesis.openapi.from_dict(json.loads(document))
    return [drawn(operation.ok().as_strategy()) for operation in schema.get_all_operations()]


def drawn(strategy: SearchStrategy[Any]) -> list[Any]:
    """EXAMPLES values of a strategy, the same ones each time."""
    found: list[Any] = []

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def append(case: Any) -> None:
        found.append(case)

    append()
    return found


def aimed(case: Any, known: dict[str, str]) -> dict[str, str]:
    """The parameters of a path. Half of them name what exists; else nearly all would end in 404."""
    path = dict(case.path_parameters)
    if path and len(str(path)) % 2:
        path |= {name: value for name, value in known.items() if name in path}
    return path


def send(
    case: Any, session: requests.Session, url: str, key: str, path: dict[str, str]
) -> tuple[int, str]:
    """Send a copy of the request with a key, and check the answer; its status and text."""
    headers = {name: v for name, v in (case.headers or {}).items() if name != "Authorization"}
    copy = case.operation.Case(
        method=case.method, path_parameters=path, query=dict(case.query),
        headers={**headers, "Authorization": f"Bearer {key}"} if key else headers,
        cookies=dict(case.cookies), body=case.body, media_type=case.media_type,
        multipart_content_types=case.multipart_content_types,
    )  # fmt: skip
    response = copy.call(base_url=url, session=session)
    copy.validate_response(response, checks=CHECKS)
    return response.status_code, response.text


def answer_values(folder: Path) -> list[str]:
    """The answers' values: long random decimals that stand nowhere else."""
    lines = (folder / "private" / "answers.csv").read_text().splitlines()[1:]
    return [line.split(",")[1] for line in lines]
