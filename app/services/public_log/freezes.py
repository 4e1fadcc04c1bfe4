"""Freezes: the plans of experiments, and how the experiments depart from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy.orm import Session

from app.domain.result_choices import Padding
from app.domain.states import ArchivalKind, SubmissionState
from app.receipts.departures import FrozenPlan, RunMade, departures, plan_of
from app.receipts.statements import ReceiptKind, read_statement
from app.services.public_log.issue import last_freeze
from app.services.runtime.context import Context
from app.storage.database.records import ExperimentRecord
from app.storage.queries import archive, results, runs
from app.storage.queries.regrades.in_force import Basis
from app.storage.queries.trust import receipts
from app.storage.queries.trust.receipts import ReceiptRecord


@dataclass(frozen=True, slots=True)
class Freeze:
    """The receipt of a freeze, and the departures from it: codes and texts."""

    receipt: ReceiptRecord
    departures: tuple[dict[str, str], ...]


def freezes_of(
    context: Context,
    experiments: Iterable[ExperimentRecord],
    padding: Padding,
    as_of: datetime | None,
) -> dict[str, Freeze]:
    """The freezes of those experiments that are frozen, by name; as in `freeze_of`."""
    with context.database.read() as session:
        frozen = receipts.frozen_experiments(session)
        found = {
            one.name: freeze_of(context, session, one, padding, as_of)
            for one in experiments
            if one.name in frozen
        }
    return {name: one for name, one in found.items() if one is not None}


def freeze_of(
    context: Context,
    session: Session,
    experiment: ExperimentRecord,
    padding: Padding | None,
    as_of: datetime | None = None,
) -> Freeze | None:
    """The freeze of an experiment and the departures from it; None if it is not frozen.

    Without a `padding`, that of the plan is assumed. With `as_of` these are the departures at that
    time, of the `experiment` as it was then; only suites are the present ones.
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
        session, experiment.name, kind=ReceiptKind.FREEZE, after=-1, limit=1
    )[0]
    if as_of is not None and first.created_at > as_of:
        return None
    return Freeze(frozen, tuple(_departures(session, experiment.name, plan, present, first, as_of)))


def _departures(
    session: Session,
    name: str,
    plan: FrozenPlan,
    present: FrozenPlan,
    frozen: ReceiptRecord,
    as_of: datetime | None,
) -> list[dict[str, str]]:
    found = runs.list_runs(session, experiment=name, archived=True, limit=None)
    if as_of is not None:
        found = [run for run in found if run.created_at <= as_of]
    counted = results.run_results(
        session, experiments=[name], archived=True, basis=Basis(as_of=as_of)
    )
    outcomes = {each.run: each for each in counted}
    of_files = {each.run for each in outcomes.values() if each.imported}
    retired = archive.archived_runs(session, name, as_of)
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
            is_imported=run.id in of_files,
        )
        for run in found
    ]
    imported = results.imported_results(session, experiments=[name], archived=True, as_of=as_of)
    return departures(
        plan,
        made,
        frozen_at=frozen.created_at,
        present=present,
        imported=len(imported) + len(of_files),
        archived=archive.archived_among(
            session, ArchivalKind.COMPETITION, plan.competitions, as_of
        ),
    )
