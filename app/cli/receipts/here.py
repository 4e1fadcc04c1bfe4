"""Receipts of the Podium of this data directory: issue them, and read their files."""

from __future__ import annotations

import json

from app.cli.context import ALL, podium
from app.cli.output import print_note
from app.cli.progress import step_progress
from app.domain.result_choices import Padding
from app.domain.states import Role
from app.services.auth import Caller
from app.services.experiments import runs
from app.services.public_log.run_receipts import NoReceipt, issue_for_run
from app.services.receipts import log_view, read
from app.services.receipts.experiment_receipts import issue_for_experiment
from app.storage.queries.trust.receipts import ReceiptRecord

HERE = Caller(Role.ADMIN, "")  # the caller of a command on the data directory


def issue_all(experiment: str, suite: str | None, padding: Padding) -> ReceiptRecord:
    """Issue the missing receipts of closed runs, then the receipt of the experiment."""
    with podium() as context:
        found_runs, _ = runs.page(
            context, HERE, experiment=experiment, competition=None, archived=True,
            after=None, limit=ALL,
        )  # fmt: skip
        with step_progress() as progress:
            for run in found_runs:
                try:
                    issue_for_run(context, run.id)
                except NoReceipt as reason:
                    print_note(reason.detail)
                progress("signing", 1, len(found_runs))
        found, _ = issue_for_experiment(context, experiment, suite=suite, padding=padding)
    return found


def files_of(receipt: str) -> dict[str, str]:
    """The texts, by file name, that prove that a receipt is valid and in the public log."""
    with podium() as context:
        found = read.find(context, HERE, receipt)
        proof = log_view.inclusion(context, receipt=receipt, number=None, size=None)
        return {
            "receipt.json": found.statement,
            "receipt.json.sig": found.signature,
            "inclusion.json": json.dumps(
                {
                    "index": proof.entry.number, "leaf": proof.entry.leaf,
                    "proof": proof.proof, "checkpoint": proof.checkpoint.note,
                },
                indent=2,
            ),
            "checkpoint.txt": proof.checkpoint.note,
            "allowed_signers": log_view.allowed(context),
            "revoked_keys": log_view.revoked(context),
        }  # fmt: skip
