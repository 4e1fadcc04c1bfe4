"""Freeze an experiment before its first run: its plan is signed, and nothing can change it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from app.domain.feedback import Feedback
from app.domain.result_choices import Padding
from app.errors import Conflict, Invalid, NotFound
from app.receipts.departures import FrozenPlan
from app.receipts.statements import Facts, ReceiptKind
from app.services.experiments import experiments
from app.services.public_log.freezes import Freeze, freeze_of
from app.services.public_log.issue import Subject, issue, last_freeze
from app.services.runtime.context import Context
from app.storage.database.records import ExperimentRecord
from app.storage.queries import competitions, results, runs
from app.storage.queries import experiments as experiments_table
from app.storage.queries.trust import log
from app.storage.queries.trust.receipts import ReceiptRecord


class ExperimentStarted(Conflict):
    """The experiment has runs or results already, so it cannot be frozen.

    A freeze is a plan, so it comes before the first run. Make another experiment, and freeze it
    first.
    """


class AlreadyFrozen(Conflict):
    """The experiment was frozen with another plan, which stays."""


@dataclass(frozen=True, slots=True)
class NewFreeze:
    """A researcher's plan. Either a suite or competitions are named."""

    suite: str | None
    competitions: tuple[str, ...]
    seeds: tuple[int, ...]
    feedback: Feedback
    selection: str
    padding: Padding
    limits: dict[str, Any]


def freeze(context: Context, name: str, new: NewFreeze) -> tuple[ReceiptRecord, bool]:
    """Sign the plan of an experiment, once. Returns the freeze, and whether it is new.

    Raises:
        NotFound: the experiment, the suite or a competition does not exist.
        Invalid: neither or both of suite and competitions are named, or none of them.
        ExperimentStarted: the experiment has runs or imported results.
        AlreadyFrozen: it is frozen with another plan.
    """
    found = experiments.find(context, name)
    slugs = _competitions(context, new)

    def record(session: Session) -> tuple[ReceiptRecord, bool]:
        log.lock(session)  # of two freezes at the same time, one is first
        experiments_table.lock(session, name)  # so that runs that are just being made are found
        # As it is now: an amendment that came before is in the plan.
        facts = _facts(experiments_table.get(session, name) or found, slugs, new)
        known = last_freeze(session, name)
        if known is not None and known.facts != facts.digest:
            raise AlreadyFrozen(
                f"The experiment {name!r} was frozen at {known.created_at.isoformat()} with "
                f"another plan: see receipt {known.id}. Make another experiment for this plan."
            )
        if known is None:
            _refuse_started(session, name)
        return issue(context, session, facts, Subject(ReceiptKind.FREEZE, name))

    return context.database.write(record)


def frozen(context: Context, name: str) -> Freeze | None:
    """The freeze of an experiment and what departs from it; None if it is not frozen.

    Raises:
        NotFound: the experiment does not exist.
    """
    experiment = experiments.find(context, name)
    with context.database.read() as session:
        return freeze_of(context, session, experiment, None)


def _facts(experiment: ExperimentRecord, slugs: tuple[str, ...], new: NewFreeze) -> Facts:
    plan = FrozenPlan(
        suite=new.suite,
        competitions=slugs,
        seeds=tuple(sorted(set(new.seeds))),
        policy=new.feedback.value,
        selection=new.selection,
        padding=new.padding.value,
        limits=new.limits,
        agent=experiment.agent,
        model=experiment.model,
        resources=experiment.resources,
    )
    document = plan.document()
    subject = (f"suite of {experiment.name}", document["suite"]["sha256"])
    body = {"experiment": {"name": experiment.name}, "plan": document}
    return Facts(ReceiptKind.FREEZE, (subject,), body)


def _refuse_started(session: Session, name: str) -> None:
    begun = runs.list_runs(session, experiment=name, archived=True, limit=1)
    if begun or results.imported_results(session, experiments=[name], archived=True):
        what = f"the run {begun[0].id}" if begun else "imported results"
        raise ExperimentStarted(
            f"The experiment {name!r} has {what} already. Freeze an experiment before its first "
            "run."
        )


def _competitions(context: Context, new: NewFreeze) -> tuple[str, ...]:
    if (new.suite is None) == (not new.competitions):
        raise Invalid("Name either a suite or competitions.")
    if new.suite is not None:
        return tuple(sorted(set(context.catalogue.suite(new.suite))))
    slugs = set(new.competitions)
    with context.database.read() as session:
        known = {
            one.slug for one in competitions.list_current(session, slugs=slugs, limit=len(slugs))
        }
    if unknown := sorted(slugs - known):
        raise NotFound(f"There is no competition {unknown[0]!r}.")
    return tuple(sorted(slugs))
