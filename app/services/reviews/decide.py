"""Decide about a run, and list files known to be leaked. Each act is an entry of the public log."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy.orm import Session

from app.domain.states import ReviewDecision
from app.errors import Conflict, Invalid, NotFound
from app.services.public_log.append import append_log_entry
from app.services.public_log.reasons import check_reason
from app.services.reviews.compute import add_signals, leak_finding
from app.services.runtime.context import Context
from app.storage.blobs.store import DIGEST
from app.storage.queries import competitions, runs
from app.storage.queries.reviews import decisions, known_leaks, signals
from app.storage.queries.reviews.decisions import ReviewRecord
from app.storage.queries.reviews.known_leaks import KnownLeakRecord
from app.storage.queries.reviews.signals import SignalRecord
from app.storage.queries.trust import log

LOGGED_AS = {
    ReviewDecision.ACCEPT: "inclusion",
    ReviewDecision.EXCLUDE: "exclusion",
    ReviewDecision.ANNOTATE: "annotation",
}
LISTED, DELISTED = "leak", "delisting"  # the kinds of log entries about files known to be leaked


def decide(
    context: Context, run_id: str, decision: ReviewDecision, reason: str, *, by: str | None
) -> ReviewRecord:
    """Accept a run, exclude it from rates, or annotate it. The decision before ends.

    A decision does not need signals. `by` is the id of the admin's key; None for a command on the
    server.

    Raises:
        NotFound: the run does not exist.
        Conflict: this decision, with this reason, holds already.
        Invalid: the reason is blank or too long.
    """
    check_reason(reason)

    def record(session: Session) -> ReviewRecord:
        log.lock(session)  # of two decisions at once, the second finds the first
        run = runs.get_run(session, run_id)
        if run is None:
            raise NotFound(f"There is no run {run_id!r}.")
        now = decisions.current(session, run_id)
        if now is not None and (now.decision, now.reason) == (decision, reason):
            raise Conflict(f"This decision about run {run_id} holds already.")
        seen = signals.of_run(session, run_id)
        found = sorted({one.signal.value for one in seen})
        body = {
            "run": run_id, "experiment": run.experiment, "competition": run.competition,
            "seed": run.seed, "decision": decision.value, "reason": reason, "signals": found,
            "by": by,
        }  # fmt: skip
        # After every decision before it, and not before a signal that it is about, although the
        # clock was set back: `as_of` and the queue compare them.
        at = append_log_entry(context, session, LOGGED_AS[decision], body).at
        at = max([at, *(one.at for one in seen), *(() if now is None else (now.at,))])
        new = ReviewRecord(run_id=run_id, decision=decision, reason=reason, decided_by=by, at=at)
        decisions.add(session, new)
        return new

    return context.database.write(record)


def add_known_leak(
    context: Context, slug: str, sha256: str, note: str, *, by: str | None
) -> tuple[KnownLeakRecord, int]:
    """List a file as leaked answers. Returns it, and how many submissions have these bytes already.

    Raises:
        NotFound: the competition does not exist.
        Invalid: it is not a SHA-256 in hex, or the note is blank or too long.
        Conflict: the file is listed already.
    """
    if not DIGEST.fullmatch(sha256):
        raise Invalid("sha256: it has 64 digits from 0-9 and a-f, as `sha256sum FILE` prints it.")
    check_reason(note, "note")

    def record(session: Session) -> tuple[KnownLeakRecord, int]:
        if competitions.current_version(session, slug) is None:
            raise NotFound(f"There is no competition {slug!r}.")
        at = datetime.now(UTC)
        new = KnownLeakRecord(competition=slug, sha256=sha256, note=note, added_by=by, at=at)
        if not known_leaks.add(session, new):
            raise Conflict(f"This file is listed for {slug} already.")
        body = {"competition": slug, "file": sha256, "note": note, "by": by}
        append_log_entry(context, session, LISTED, body)
        finding = leak_finding(note)
        found = [
            SignalRecord(
                submission_id=submission, run_id=run, signal=finding.signal, level=finding.level,
                other_run=None, detail=finding.detail, at=at,
            )
            for submission, run in known_leaks.sent(session, slug, sha256)
        ]  # fmt: skip
        add_signals(session, found)
        return new, len(found)

    return context.database.write(record)


def remove_known_leak(context: Context, slug: str, sha256: str, *, by: str | None) -> None:
    """Remove a file from the list. Its signals stay.

    Raises:
        NotFound: it is not listed.
    """

    def record(session: Session) -> None:
        if not known_leaks.remove(session, slug, sha256):
            raise NotFound(f"No such file is listed for {slug!r}.")
        body = {"competition": slug, "file": sha256, "by": by}
        append_log_entry(context, session, DELISTED, body)

    context.database.write(record)
