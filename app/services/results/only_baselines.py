"""Whether an experiment is one of success rates alone, where no medal can be won."""

from __future__ import annotations

from app.domain.result_choices import Baselines, Padding, SuccessGroupBy
from app.errors import Conflict
from app.services.experiments import experiments
from app.services.results.inputs.attempts import gather
from app.services.results.inputs.scope import ResultFilter
from app.services.results.success_rates import SuccessResults, SuccessScope, success
from app.services.runtime.context import Context
from app.storage.queries import competitions


def has_only_baselines(context: Context, name: str, suite: str | None) -> bool:
    """Whether only success rates, not medals, apply to the experiment (in the suite).

    This is so if all are imported, none has a human leaderboard, and at least one has a baseline
    or is measured.

    Raises:
        NotFound: the experiment or the suite does not exist.
    """
    experiments.find(context, name)
    slugs = gather(context, [name])[name].competitions
    if suite:
        slugs &= set(context.catalogue.suite(suite))
    with context.database.read() as session:
        versions = competitions.list_current(session, slugs=slugs, limit=len(slugs))
    known = [context.catalogue.entry(version).competition for version in versions]
    return (
        len(known) == len(slugs)
        and all(one.leaderboard is None for one in known)
        and any(one.baseline is not None or one.is_measured for one in known)
    )


def success_without_medals(context: Context, name: str, suite: str | None) -> SuccessResults | None:
    """The success rates of an experiment of success rates alone, by competition.

    None for any other experiment, and if no run can be counted. Missing results, and runs without a
    known baseline, are left out.

    Raises:
        NotFound: the experiment or the suite does not exist.
    """
    if not has_only_baselines(context, name, suite):
        return None
    scope = SuccessScope(ResultFilter(suite, Padding.COMPLETE), baselines=Baselines.KNOWN)
    try:
        return success(context, name, scope, SuccessGroupBy.COMPETITION)
    except Conflict:  # no run can be counted
        return None
