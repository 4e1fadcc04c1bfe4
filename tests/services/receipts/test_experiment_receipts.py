"""The receipt of an experiment has every attempt, and those that are missing."""

from __future__ import annotations

from typing import Any

import pytest

from app.domain.feedback import Feedback
from app.domain.result_choices import Padding
from app.domain.states import ArchivalKind
from app.errors import NotFound
from app.receipts.statements import read_statement
from app.services.experiments.amendments import withdraw_imports
from app.services.public_log.run_receipts import issue_for_run
from app.services.receipts.experiment_receipts import issue_for_experiment
from app.services.results.inputs.scope import ResultFilter, result_context
from app.services.runtime.context import Context
from app.storage.queries.elsewhere import imported_runs
from app.storage.queries.elsewhere.imported_runs import ImportedRunRecord
from app.storage.queries.trust.receipts import ReceiptRecord
from tests.services.results.make import NOON, add_imports, archive_it, closed_run, exclude
from tests.services.submissions.conftest import readable_version

GOLD = {"score": 0.5, "medal": "gold"}


def issue(context: Context) -> tuple[ReceiptRecord, bool]:
    return issue_for_experiment(context, "first", suite=None, padding=Padding.FAIL)


def signed(receipt: ReceiptRecord) -> dict[str, Any]:
    found: dict[str, Any] = read_statement(receipt.data)
    return found


def test_attempts_of_every_kind_are_listed_by_competition_and_seed(context: Context) -> None:
    leaves, bikes = (readable_version(context, slug) for slug in ("leaves", "bikes"))
    closed_run(context, leaves, 2, feedback=Feedback.NONE)
    kept, (sent,) = closed_run(context, bikes, 1, GOLD)
    excluded, _ = closed_run(context, bikes, 3, GOLD)
    archived, _ = closed_run(context, bikes, 4)
    exclude(context, excluded)
    archive_it(context, ArchivalKind.RUN, archived.id)
    add_imports(context, "first", {"bikes": {2: "silver", 5: None}})
    withdraw_imports(context, "first", competition="bikes", seed=5, reason="wrong", by=None)
    of_run, _ = issue_for_run(context, kept.id)

    receipt, is_new = issue(context)
    statement = signed(receipt)
    stated = statement["predicate"]
    attempts = stated["attempts"]
    assert is_new
    assert [(one["competition"], one["seed"], one["outcome"]) for one in attempts] == [
        ("bikes", 1, "graded"), ("bikes", 3, "graded"), ("bikes", 4, "missing"),
        ("leaves", 2, "missing"),
    ]  # fmt: skip
    assert [(one["excluded"], one["archived"]) for one in attempts] == [
        (False, False), (True, False), (False, True), (False, False),
    ]  # fmt: skip
    first = {name: attempts[0][name] for name in ("submission", "score", "medal", "receipt")}
    assert first == {"submission": sent, "score": "0.5", "medal": "gold", "receipt": of_run.id}
    assert attempts[3]["score"] is None
    assert [(one["seed"], one["medal"]) for one in stated["imported"]] == [(2, "silver")]
    assert stated["missing"] == [
        {"competition": "leaves", "seed": seed} for seed in (1, 3, 4)
    ]  # fmt: skip
    assert (stated["policies"], stated["withdrawn"], stated["padding"]) == (
        ["none", "validity"], 1, "fail",
    )  # fmt: skip
    assert [one["name"] for one in statement["subject"]] == ["bikes/1", "bikes/3"]


def test_competitions_with_imported_results_alone_are_of_the_suite(context: Context) -> None:
    """Rates count their other seeds as missing, and no receipt said that these are."""
    closed_run(context, readable_version(context, "bikes"), 1, GOLD)
    add_imports(context, "first", {"boats": {2: "silver"}})

    stated = signed(issue(context)[0])["predicate"]
    assert stated["suite"]["competitions"] == ["bikes", "boats"]
    assert [(one["competition"], one["seed"]) for one in stated["missing"]] == [
        ("bikes", 2), ("boats", 1),
    ]  # fmt: skip
    counted, _ = result_context(context, "first", ResultFilter(padding=Padding.FAIL))
    assert [each[:2] for each in counted.missing] == [("bikes", 2), ("boats", 1)]


def test_the_policy_of_imported_runs_is_not_known(context: Context) -> None:
    """It was signed that their agents were told nothing."""
    version = readable_version(context, "bikes")
    closed_run(context, version, 1, GOLD, feedback=Feedback.FULL)
    run, _ = closed_run(context, version, 2, GOLD, feedback=Feedback.NONE)
    of = ImportedRunRecord(
        run_id=run.id, file="f", place="1", sha256="", document={}, imported_at=NOON
    )
    context.database.write(lambda session: imported_runs.add(session, [of]))

    stated = signed(issue(context)[0])["predicate"]
    assert stated["policies"] == ["full"]
    assert [(one["outcome"], one["policy"]) for one in stated["attempts"]] == [
        ("graded", "full"), ("imported", None),
    ]  # fmt: skip


def test_the_same_facts_again_are_the_same_receipt(context: Context) -> None:
    version = readable_version(context, "bikes")
    run, _ = closed_run(context, version, 1, GOLD)
    first, _ = issue(context)
    assert issue(context) == (first, False)

    exclude(context, run)
    second, is_new = issue(context)
    assert (is_new, second.supersedes) == (True, first.id)


def test_an_experiment_without_a_graded_file_is_about_its_suite(context: Context) -> None:
    closed_run(context, readable_version(context, "bikes"), 1)

    statement = signed(issue(context)[0])
    (subject,) = statement["subject"]
    assert subject["name"] == "suite of first"
    assert subject["digest"]["sha256"] == statement["predicate"]["suite"]["sha256"]
    with pytest.raises(NotFound):
        issue_for_experiment(context, "nothing", suite=None, padding=Padding.NONE)
