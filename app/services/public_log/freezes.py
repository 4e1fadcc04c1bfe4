"""Freezes: the plans of experiments, and what departs from them by now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sqlalchemy.orm import Session

from app.domain.result_choices import Padding
from app.domain.states import ArchivalKind, SubmissionState
from app.receipts.departures import FrozenPlan, RunMade, departures, plan_of
from app.receipts.statements import ReceiptKind, read_statement
from app.services.public_log.issue import last_freeze
from app.services.runtime.context import Context
from app.storage.database.records import ExperimentRecord
from app.storage.queries import archive, results, runs
from app.storage.queries.trust import receipts
from app.storage.queries.trust.receipts import ReceiptRecord


@dataclass(frozen=True, slots=True)
class Freeze:
    """The receipt of a freeze, and what departs from it: codes and texts."""

    receipt: ReceiptRecord
    departures: tuple[dict[str, str], ...]


def freezes_of(
    context: Context, experiments: Iterable[ExperimentRecord], padding: Padding
) -> dict[str, Freeze]:
    """The freezes of those experiments that are frozen, by name."""
    with context.database.read() as session:
        frozen = receipts.frozen_experiments(session)
        found = {
            one.name: freeze_of(context, session, one, padding)
            for one in experiments
            if one.name in frozen
        }
    return {name: one for name, one in found.items() if one is not None}


def freeze_of(
    context: Context, session: Session, experiment: ExperimentRecord, padding: Padding | None
) -> Freeze | None:
    """The freeze of an experiment and what departs from it; None if it is not frozen.

    Without a `padding`, that of the plan is assumed.
    """
    frozen = last_freeze(session, experiment.name)
    if frozen is None:
        return None
    plan = plan_of(read_statement(frozen.data)["predicate"])
    suites = context.catalogue.suites()
    now = plan.competitions if plan.suite is None else suites.get(plan.suite, ())
    present = replace(
        plan,
        competitions=now,
        padding=plan.padding if padding is None else padding.value,
        agent=experiment.agent,
        model=experiment.model,
        resources=experiment.resources,
    )
    # Signed again after its key was revoked, the same freeze has several receipts.
    first = receipts.of_experiment(
        session, experiment.name, kind=ReceiptKind.FREEZE, after="", limit=1
    )[0]
    return Freeze(frozen, tuple(_departures(session, experiment.name, plan, present, first)))


def _departures(
    session: Session, name: str, plan: FrozenPlan, present: FrozenPlan, frozen: ReceiptRecord
) -> list[dict[str, str]]:
    found = runs.list_runs(session, experiment=name, archived=True, limit=None)
    outcomes = {
        each.run: each for each in results.run_results(session, experiments=[name], archived=True)
    }
    retired = archive.currents(session, ArchivalKind.RUN, [run.id for run in found])
    made = [
        RunMade(
            id=run.id,
            competition=run.competition,
            seed=run.seed,
            policy=run.feedback.value,
            limits=run.limits or {},
            is_selected=run.selected_id is not None,
            is_graded=run.id in outcomes and outcomes[run.id].final_state is SubmissionState.GRADED,
            is_archived=run.id in retired,
            created_at=run.created_at,
            is_excluded=run.id in outcomes and outcomes[run.id].excluded,
        )
        for run in found
    ]
    imported = len(results.imported_results(session, experiments=[name], archived=True))
    return departures(plan, made, frozen_at=frozen.created_at, present=present, imported=imported)
