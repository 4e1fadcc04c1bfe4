"""Compare rows that may change (keys, ends of runs, decisions) with what log and receipts say."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy.orm import Session

from app.domain.states import ArchivalKind, RunState, SubmissionState
from app.receipts.statements import utc
from app.services.public_log.append import KEY_ENTRY
from app.services.public_log.run_receipts import outcome_of
from app.storage.database.records import DISCLOSURE_KINDS, HARNESS
from app.storage.queries import archive, exposure, results
from app.storage.queries.regrades.counted_runs import RunResult
from app.storage.queries.regrades.regrades import in_force_at
from app.storage.queries.reviews import decisions
from app.storage.queries.trust import log, receipts, signing_keys
from app.storage.queries.trust.log import LogEntryRecord
from app.storage.queries.trust.receipts import ReceiptRecord
from app.storage.queries.trust.signing_keys import SigningKeyRecord

GRADED = SubmissionState.GRADED.value
# Kinds of entries, as reviews and archivings log them.
EXCLUSION, ARCHIVING, RESTORATION = "exclusion", "archiving", "restoration"
DECISIONS = (EXCLUSION, "inclusion", "annotation")


def check_keys(
    session: Session, known: Mapping[str, SigningKeyRecord]
) -> Iterator[tuple[str, str]]:
    """What is wrong with the rows of signing keys: the log has each act on one.

    `known` are the keys that were read before the log. Servers may make and retire keys meanwhile.
    """
    acts = _acts(session, KEY_ENTRY)
    keys = {key.id: key for key in signing_keys.all_keys(session)}
    for about in acts:
        problem = _key_problem(about, keys.get(str(about.get("key"))))
        if problem is not None:
            yield f"signing key {about.get('key')}", problem
    made = {about.get("key") for about in acts if about.get("act") == "made"}
    for key_id in sorted(set(known) - made):
        yield f"signing key {key_id}", "the log has no entry that it was made: the row was added"


def check_acts(session: Session) -> Iterator[tuple[str, str]]:
    """What is wrong with the rows that say what rates leave out: the log has each act.

    What was archived before there was a log is not checked.
    """
    acts = _acts(session, *DECISIONS)
    excludes = {str(about.get("run")): about.get("kind") == EXCLUSION for about in acts}
    excluded = set(decisions.excluded_ids(session))
    for run in sorted(excluded | excludes.keys()):
        if excludes.get(run, False) != (run in excluded):
            reality = "a review excludes it" if run in excluded else "no review excludes it"
            yield f"run {run}", f"{reality}, and the log says otherwise: rows were changed"
    acts = _acts(session, ARCHIVING, RESTORATION)
    archives = {(a.get("what"), a.get("name")): a.get("kind") == ARCHIVING for a in acts}
    for kind in ArchivalKind:
        archived = set(session.execute(archive.names_of(kind)).scalars())
        for (what, name), is_archived in archives.items():
            if what == kind.value and is_archived != (name in archived):
                reality = "it is archived" if name in archived else "it is not archived"
                yield f"{what} {name}", f"{reality}, and the log says otherwise: rows were changed"


def _acts(session: Session, *kinds: str) -> list[dict[str, Any]]:
    """The acts of these kinds in their order, without those whose entries were changed."""
    numbers = sorted(number for kind in kinds for number in log.numbers_of(session, kind))
    return [about for number in numbers if (about := _act(log.entry(session, number)))]


def _act(entry: LogEntryRecord | None) -> dict[str, Any]:
    """What was done with a key; nothing where the check of the log says that it was changed."""
    try:
        found = json.loads((entry and entry.record) or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _key_problem(about: dict[str, Any], key: SigningKeyRecord | None) -> str | None:
    if key is None:
        return "its row was removed"
    match about.get("act"):
        case "made" if about.get("public_key") != key.public_key:
            return "its public key was changed"
        case "retired" if key.valid_before is None:
            return "it was retired, and its row does not say so: the row was changed"
        case "revoked" if key.revoked_at is None or key.reason != about.get("reason"):
            return "it was revoked, and its row does not say so: the row was changed"
    return None


def final_problems(session: Session, receipt: ReceiptRecord) -> Iterator[str]:
    """Whether the run of a receipt is and ends as was signed, if this is its last receipt."""
    if receipt.run_id is None:
        return
    last = receipts.last_of_run(session, receipt.run_id)
    if last is None or last.id != receipt.id:
        return
    found = next(results.run_results(session, run=receipt.run_id), None)
    if found is None:
        yield f"its run {receipt.run_id} is missing"
        return
    predicate = json.loads(receipt.statement)["predicate"]
    own: dict[str, Any] = {
        "experiment": found.experiment, "seed": found.seed, "policy": found.feedback.value,
    }  # fmt: skip
    at = found.closed_at if found.state is RunState.CLOSED else None
    own["closed"] = None if at is None else utc(at)
    if outcome_of(found) != "reported":  # since scores were reported, no change is signed any more
        own["failure"] = found.failure
    if changed := [name for name, value in own.items() if predicate["run"][name] != value]:
        yield (
            f"its run {receipt.run_id} has another {', '.join(changed)} than was signed: its row "
            "was changed"
        )
    if removed := _removed_disclosures(session, found, predicate.get("exposure", {})):
        yield (
            f"the exposure ledger of its run {receipt.run_id} has fewer {', '.join(removed)} than "
            "was signed: rows were removed"
        )
    regrade = in_force_at(session, found.competition)
    if regrade is not None and (regrade.applied_at or receipt.created_at) >= receipt.created_at:
        return  # the receipt of the regraded run comes within seconds
    stated = predicate["submission"]["id"] if predicate["outcome"] == GRADED else None
    graded = found.final if found.final_state is SubmissionState.GRADED else None
    if stated != graded:
        yield (
            f"its run {receipt.run_id} ends with {_submission(graded)}, and {_submission(stated)} "
            "was signed: rows of submissions, or the choice of the run, were changed"
        )
    elif graded is not None and found.regrade != (signed := predicate.get("regrade")):
        yield (
            f"its run {receipt.run_id} counts with {_grade(found.regrade)}, and {_grade(signed)} "
            "was signed: rows of regrades were changed"
        )


def _removed_disclosures(session: Session, run: RunResult, signed: dict[str, Any]) -> list[str]:
    """The kinds of disclosures until the close of which there are fewer than in the receipt."""
    present = exposure.totals(session, run.run, until=run.closed_at)
    stated = {kind: signed.get(f"{kind}s", 0) for kind in DISCLOSURE_KINDS}
    to_harness = signed.get("to_harness", {})
    stated |= {f"{HARNESS}{kind}": to_harness.get(f"{kind}s", 0) for kind in DISCLOSURE_KINDS}
    return [f"{kind}s" for kind, count in stated.items() if present[kind] < count]


def _grade(regrade: str | None) -> str:
    return "the first grade" if regrade is None else f"the grade of the regrade {regrade}"


def _submission(graded: str | None) -> str:
    return "no graded submission" if graded is None else f"the graded submission {graded}"
