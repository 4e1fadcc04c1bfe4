"""The receipt of an experiment: all its attempts, also those that failed or are missing."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from app.domain.result_choices import Padding
from app.domain.states import ArchivalKind, SubmissionState
from app.receipts.departures import suite_document
from app.receipts.statements import Facts, ReceiptKind, score_text, utc
from app.services.experiments import experiments
from app.services.public_log.freezes import freeze_of
from app.services.public_log.issue import Subject, issue_present
from app.services.public_log.run_receipts import outcome_of
from app.services.runtime.context import Context
from app.storage.database.records import ExperimentRecord
from app.storage.queries import amendments, archive, exposure, results
from app.storage.queries.regrades.counted_runs import RunResult
from app.storage.queries.results import ImportedResult
from app.storage.queries.trust import receipts
from app.storage.queries.trust.receipts import ReceiptRecord


def issue_for_experiment(
    context: Context, name: str, *, suite: str | None, padding: Padding
) -> tuple[ReceiptRecord, bool]:
    """The present receipt of an experiment, and whether it is new.

    With a `suite`, its competitions and seeds without a run are listed as missing.

    Raises:
        NotFound: the experiment or the suite does not exist.
    """
    experiment = experiments.find(context, name)
    slugs = None if suite is None else context.catalogue.suite(suite)

    def read(session: Session) -> tuple[Facts, None]:
        body, subjects = _body(context, session, experiment, suite, slugs, padding)
        return Facts(ReceiptKind.EXPERIMENT, subjects, body), None

    return issue_present(context, Subject(ReceiptKind.EXPERIMENT, name), read)


def _body(
    context: Context,
    session: Session,
    experiment: ExperimentRecord,
    suite: str | None,
    slugs: tuple[str, ...] | None,
    padding: Padding,
) -> tuple[dict[str, Any], tuple[tuple[str, str], ...]]:
    name = experiment.name
    found = sorted(
        results.run_results(session, experiments=[name], archived=True),
        key=lambda each: (each.competition, each.seed),
    )
    imported = results.imported_results(session, experiments=[name], archived=True)
    frozen = freeze_of(context, session, experiment, padding)
    digests = receipts.graded_digests(session, name)
    issued = receipts.latest_by_run(session, name)
    retired = archive.currents(session, ArchivalKind.RUN, [one.run for one in found])
    attempts = [
        _attempt(context, one, issued.get(one.run), is_archived=one.run in retired) for one in found
    ]
    own = {one.competition for one in found} | {one.competition for one in imported}
    chosen = suite_document(suite, slugs or own)
    subjects = [
        (f"{one.competition}/{one.seed}", digests[one.final])
        for one in found
        if one.final in digests
    ]
    body = {
        "experiment": {
            "name": name,
            "agent": experiment.agent,
            "model": experiment.model,
            "resources": experiment.resources,
            "created": utc(experiment.created_at),
        },
        "suite": chosen,
        "padding": padding.value,
        "policies": sorted({one["policy"] for one in attempts} - {None}),
        "attempts": attempts,
        "imported": [_imported(one) for one in sorted(imported, key=lambda each: each[1:3])],
        "missing": _missing(chosen["competitions"], attempts, imported),
        "exposure": exposure.by_experiment(session, [name], archived=True).get(name, {}),
        "withdrawn": amendments.withdrawn(session).get(name, 0),
        "freeze": None if frozen is None else frozen.receipt.id,
        "departures": [] if frozen is None else list(frozen.departures),
    }
    return body, tuple(subjects) or ((f"suite of {name}", chosen["sha256"]),)


def _attempt(
    context: Context, one: RunResult, receipt: str | None, *, is_archived: bool
) -> dict[str, Any]:
    graded = one.final_state is SubmissionState.GRADED
    return {
        "competition": one.competition,
        "version": context.catalogue.version(one.version_id).number,
        "seed": one.seed,
        "run": one.run,
        "state": one.state.value,
        # The policy of an imported run is not known.
        "policy": None if one.imported else one.feedback.value,
        "outcome": "imported" if one.imported else outcome_of(one),
        "failure": one.failure,
        "submissions": one.sent,
        "submission": one.final,
        "score": score_text(one.score) if graded else None,
        "medal": one.medal if graded else None,
        "archived": is_archived,
        "excluded": one.excluded,
        "receipt": receipt,
    }


def _imported(one: ImportedResult) -> dict[str, Any]:
    return {
        "competition": one.competition,
        "seed": one.seed,
        "made": one.made,
        "valid": one.valid,
        "score": score_text(one.score),
        "medal": one.medal,
        "source": one.source,
    }


def _missing(
    slugs: list[str], attempts: list[dict[str, Any]], imported: list[ImportedResult]
) -> list[dict[str, Any]]:
    """The competitions of the suite and seeds of the experiment without any result."""
    there = {(one["competition"], one["seed"]) for one in attempts}
    there |= {(one.competition, one.seed) for one in imported}
    seeds = sorted({seed for _, seed in there})
    return [
        {"competition": slug, "seed": seed}
        for slug in slugs
        for seed in seeds
        if (slug, seed) not in there
    ]
