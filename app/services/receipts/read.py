"""Who may read which receipt. Researchers and admins read all.

A key may read a receipt only if it may see everything in it. Under `full`, the key of a run reads
the receipt of its own run. A harness's key reads receipts of its experiment's runs at competitions
without flags, because it must not see flags. Neither reads the receipts of regrades, because these
keys see first grades only. Before a run is closed it has no receipt. A receipt that such a key
reads is entered in the exposure ledger.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.errors import NotFound
from app.receipts.statements import ReceiptKind, read_statement
from app.services.auth import Caller, may_reach, own_run
from app.services.experiments import experiments
from app.services.runtime.context import Context
from app.services.runtime.pages import one_more, page_of, wrong_cursor
from app.services.submissions import disclose
from app.storage.database.records import RunRecord
from app.storage.queries import runs
from app.storage.queries.trust import receipts
from app.storage.queries.trust.receipts import ReceiptRecord


def find(context: Context, caller: Caller, receipt_id: str) -> ReceiptRecord:
    """The receipt with this id.

    Raises:
        NotFound: it does not exist, or says more than this key may know.
    """
    with context.database.read() as session:
        found = receipts.get(session, receipt_id)
        run = runs.get_run(session, found.run_id) if found and found.run_id else None
    if found is None or not _may_read(caller, found, run):
        raise NotFound(f"There is no receipt {receipt_id!r} for this key.")
    if not caller.reads_results and found.submission_id is not None:
        disclose.show(context, caller, found.submission_id)  # enters it into the ledger
    return found


def of_run(context: Context, caller: Caller, run_id: str) -> list[ReceiptRecord]:
    """The receipts of a run that the caller may read, oldest first.

    Raises:
        NotFound: the run does not exist, or it is not the caller's.
    """
    with context.database.read() as session:
        run = own_run(session, caller, run_id)
        found = receipts.of_run(session, run_id)
    return [one for one in found if _may_read(caller, one, run)]


def of_experiment(
    context: Context,
    name: str,
    *,
    kind: ReceiptKind | None,
    after: str | None,
    limit: int | None,
) -> tuple[list[ReceiptRecord], str | None]:
    """A page of an experiment's receipts, those of its runs too, and the next cursor.

    Raises:
        NotFound: the experiment does not exist.
        Invalid: the cursor is not of this list.
    """
    experiments.find(context, name)
    with context.database.read() as session:
        last = None if after is None else receipts.get(session, after)
        if after is not None and (last is None or last.experiment != name):
            raise wrong_cursor()
        number = -1 if last is None else last.number
        found = receipts.of_experiment(
            session, name, kind=kind, after=number, limit=one_more(limit)
        )
    return page_of(found, limit, lambda one: one.id)


def replaced_among(context: Context, found: Sequence[ReceiptRecord]) -> set[str]:
    """The ids of the receipts among these that a later one supersedes."""
    with context.database.read() as session:
        return receipts.replaced_among(session, [one.id for one in found])


def _may_read(caller: Caller, receipt: ReceiptRecord, run: RunRecord | None) -> bool:
    if caller.reads_results:
        return True
    if receipt.kind is not ReceiptKind.GRADE or run is None or not may_reach(caller, run):
        return False
    predicate = read_statement(receipt.data)["predicate"]
    if "regrade" in predicate:
        return False
    return run.feedback.shows_everything if caller.is_run else not predicate["competition"]["flags"]
