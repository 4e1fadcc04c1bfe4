"""The context of results as columns of flat rows."""

from __future__ import annotations

from dataclasses import replace

from app.reports.document.result_context import context_columns, context_document
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


def test_what_happened_to_nothing_is_zero_and_what_has_no_order_is_sorted() -> None:
    exposure = context_document(PLAIN)["exposure"]
    assert {*exposure["totals"].values(), *exposure["harness_totals"].values()} == {0}
    about = replace(
        PLAIN,
        policies={"validity": 1, "full": 2},
        failures={"out_of_memory": 1, "crash": 2},
        flags=(("bikes", "leaky", ""), ("bikes", "easy", "")),
        with_excluded={"any_medal": 37.5},
    )

    document, row = context_document(about), context_columns(about)
    assert list(document["failures"]) == ["crash", "out_of_memory"]
    assert list(document["exposure"]["policies"]) == ["full", "validity"]
    assert (row["policies"], row["flags"]) == ("full,validity", "easy,leaky")
    assert row["any_medal_with_excluded"] == 37.5
