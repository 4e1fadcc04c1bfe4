"""Odd documents of results that were made elsewhere: refused, or stored and told of in full."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.conftest import Podium
from tests.api.test_mlagentbench_results import evaluation, key, send
from tests.api.test_success import baseline
from tests.grading_reports import ROOT, entry, medal_lines, report

LEAF = medal_lines()["leaf-classification"]


@pytest.fixture
def podium(podium: Podium) -> Podium:
    """A Podium that knows the competitions of the suites."""
    folders = Path(podium.server.environment["PODIUM_COMPETITIONS_DIR"])
    shutil.copy(ROOT / "competitions" / "suites.toml", folders)
    return podium


@pytest.fixture
def task(podium: Podium) -> Path:
    """A task in which lower is better, with starter code at 0.5."""
    return podium.competition(toml=baseline("0.5"), leaderboard=None)


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def send_report(podium: Podium, experiment: str, body: bytes) -> httpx.Response:
    return podium.admin.post(f"/v1/experiments/{experiment}/grading-reports?seed=0", content=body)


def with_field(document: dict[str, Any], value: bytes) -> bytes:
    """The JSON of the document, with the raw value in place of its text HERE."""
    return json.dumps(document).encode().replace(b'"HERE"', value)


def report_with_field(value: bytes) -> bytes:
    return with_field(report([{**entry(LEAF, 0.1), "more": "HERE"}]), value)


def report_with_total(value: bytes) -> bytes:
    return with_field({**report([entry(LEAF, 0.1)]), "total_medals": "HERE"}, value)


def evaluation_with_field(value: bytes) -> bytes:
    entries = evaluation()
    return with_field({**entries, key(1): {**entries[key(1)], "more": "HERE"}}, value)


def evaluation_with_kind(value: bytes) -> bytes:
    entries = evaluation()
    return with_field({**entries, key(1): {**entries[key(1)], "extra": "HERE"}}, value)


@pytest.mark.parametrize("depth", [101, 300, 480, 700, 990, 100_000])
@pytest.mark.parametrize("body", [report_with_field, report_with_total])
def test_a_deep_report_is_refused_and_nothing_is_stored(
    podium: Podium, body: Callable[[bytes], bytes], depth: int
) -> None:
    name = podium.experiment()
    answer = send_report(podium, name, body(nested(depth)))

    assert answer.status_code == 422, answer.text
    assert "nested more than 100 deep" in answer.json()["detail"]
    assert podium.admin.get(f"/v1/experiments/{name}/grading-report?seed=0").status_code == 404


@pytest.mark.parametrize("depth", [101, 300, 900])
def test_a_deep_evaluation_is_refused_and_nothing_is_stored(
    podium: Podium,
    task: Path,
    depth: int,
) -> None:
    name = podium.experiment()
    answer = send(podium, name, task.name, evaluation_with_field(nested(depth)))

    assert answer.status_code == 422, answer.text
    assert podium.admin.get(f"/v1/runs?experiment={name}").json()["items"] == []


@pytest.mark.parametrize(
    "value",
    [
        rb'"\ud800"', rb'{"a":[NaN,"\udc00"]}', nested(90), b'"' + b"a" * 300_000 + b'"',
        b"[" + b"1," * 100_000 + b"1]", b"1e400", b"-Infinity", rb'"\u0000"',
    ],
)  # fmt: skip
def test_an_odd_total_is_stored_and_told_of_in_few_words(
    podium: Podium,
    value: bytes,
) -> None:
    answer = send_report(podium, podium.experiment(), report_with_total(value))

    assert answer.status_code == 201, answer.text
    (found,) = [one for one in answer.json()["mismatches"] if one["field"] == "total_medals"]
    assert len(json.dumps(found["file"])) < 500


@pytest.mark.parametrize(
    ("value", "status"),
    [
        (rb'{"\ud800": true}', 201), (rb'{"\ud800": "\ud800"}', 422),
        (b'{"' + b"a" * 200_000 + b'": true}', 201), (b'{"' + b"a" * 200_000 + b'": 1}', 422),
        (b'{"a": [' + b"1," * 100_000 + b"1]}", 422),
    ],
)  # fmt: skip
def test_odd_kinds_of_errors_are_named_in_few_words(
    podium: Podium,
    task: Path,
    value: bytes,
    status: int,
) -> None:
    name = podium.experiment()
    answer = send(podium, name, task.name, evaluation_with_kind(value))

    assert answer.status_code == status, answer.text[:500]
    assert len(answer.content) < 5000
    stored = podium.admin.get(f"/v1/runs?experiment={name}").json()["items"]
    assert bool(stored) == (status == 201)


def test_a_long_value_is_quoted_in_few_words(podium: Podium) -> None:
    wrong = report([entry(LEAF, 0.1)])
    wrong["competition_reports"][0]["gold_medal"] = [0] * 100_000
    answer = send_report(podium, podium.experiment(), json.dumps(wrong).encode())

    assert answer.status_code == 422
    assert len(answer.content) < 2000
    assert answer.json()["detail"].startswith("The grading report is refused at ")
    empty = send_report(podium, podium.experiment(), b"[]")
    assert empty.json()["detail"] == (
        "The grading report is refused: there are no competition reports in it."
    )
