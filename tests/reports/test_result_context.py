"""The context of results as columns of flat rows."""

from __future__ import annotations

from dataclasses import replace

from app.reports.document.result_context import context_columns
from tests.reports.make import PLAIN

TOLD = {
    "validation": "validations", "search_score": "search_scores", "public_score": "public_scores",
    "private_score": "private_scores", "failure": "failures_shown",
    "harness_validation": "harness_validations", "harness_private_score": "harness_private_scores",
    "harness_failure": "harness_failures_shown",
}  # fmt: skip


def test_each_kind_of_disclosure_has_its_number_and_others_are_zero() -> None:
    assert {context_columns(PLAIN)[column] for column in TOLD.values()} == {0}

    for number, (kind, column) in enumerate(TOLD.items(), start=3):
        found = context_columns(replace(PLAIN, disclosed={kind: number}))
        assert {name: found[name] for name in TOLD.values() if found[name]} == {column: number}
