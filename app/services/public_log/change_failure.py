"""Change the failure of a run that has a receipt, and sign the new one, in one transaction."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy.orm import Session

from app.receipts.statements import Facts, ReceiptKind
from app.services.public_log.issue import Subject, issue_present
from app.services.public_log.run_receipts import (
    DAMAGE,
    NoReceipt,
    issue_at_close,
    run_facts,
)
from app.services.runtime.context import Context
from app.services.runtime.run_limits import existing_run
from app.storage.database.records import RunRecord
from app.storage.queries import runs


def change_signed_failure(context: Context, run: RunRecord, failure: str) -> None:
    """Record why a closed run failed, in its row and in its receipt.

    With two transactions, a server that is killed between them would leave a row that looks to
    `podium verify` as if somebody had changed it. If no receipt can be issued, only the row is
    changed.
    """

    def read(session: Session) -> tuple[Facts, str | None]:
        return run_facts(context, session, replace(existing_run(session, run.id), failure=failure))

    def change(session: Session) -> None:
        runs.update_run(session, run.id, failure=failure)

    try:
        issue_present(context, Subject(ReceiptKind.GRADE, run.experiment, run.id), read, change)
    except (NoReceipt, *DAMAGE):
        context.database.write(change)
        issue_at_close(context, run.id)  # says why there is none
