"""The columns of a board's table by their names, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from app.domain.result_choices import RATES, GroupBy
from app.errors import Invalid
from app.reports.document.footnotes import missing_note
from app.reports.document.page import Marked
from app.reports.document.report import split_names
from app.reports.document.tables import interval_cell
from app.services.results.inputs.scope import ResultContext
from app.statistics.estimates import Estimate
from app.statistics.rates import ALL, GroupRates

Rates = Mapping[str, GroupRates]
Row = tuple[ResultContext, Rates]
NOT_KNOWN = "not known"
COMPLEXITY_TITLES = {"low": "Low == Lite", "medium": "Medium", "high": "High"}
SEM_NOTE = (
    "Mean ± seed SEM: over the totals of the seeds (ddof = 1), as in MLE-bench's README. "
    "No ± where it is not known."
)
RUNS_NOTE = (
    "Run again (runs95): 95 % interval of any medal, for the question where the rate would be if "
    "these competitions were run again with other seeds. Not known where a competition has one "
    "attempt."
)
COMPETITIONS_NOTE = (
    "Competitions like these (competitions95): 95 % interval of any medal, for the question where "
    "the rate would be at other competitions of this kind."
)
BOUNDS_NOTE = (
    "Bounds: the rate over all seeds if all missing results had failed, and if all had succeeded."
)


@dataclass(frozen=True, slots=True)
class Measure:
    """A column for each group: its heading, its cells, and the note that explains it."""

    heading: str  # {} stands for the group
    cell: Callable[[GroupRates], str]
    note: str


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a board: its heading, and its cell for each experiment."""

    heading: str | Marked
    cell: Callable[[ResultContext, Rates], str | Marked]
    note: str = ""


def plus_minus(one: Estimate) -> str:
    """The mean and its SEM in the form of MLE-bench's board.

    >>> plus_minus(Estimate(62.1212, 1.5151, None, None, ()))
    '62.12 ± 1.52'
    """
    spread = "" if one.sem is None else f" ± {one.sem:.2f}"
    return f"{one.mean:.2f}{spread}"


def _sem(group: GroupRates) -> str:
    sem = group.rates["any_medal"].sem
    return NOT_KNOWN if sem is None else f"{sem:.2f}"


def _bounds(group: GroupRates) -> str:
    bounds = group.rates["any_medal"].bounds
    return "nothing is missing" if bounds is None else interval_cell(bounds)


def _rate(rate: str, group: GroupRates) -> str:
    return plus_minus(group.rates[rate])


ANY_MEDAL = Measure("{} (%)", partial(_rate, "any_medal"), SEM_NOTE)
MEASURES = {
    "": ANY_MEDAL,
    "any_medal": ANY_MEDAL,  # the only name for a group that has the name of a column of FIXED
    "sem": Measure("{}: seed SEM", _sem, SEM_NOTE),
    "runs95": Measure(
        "{}: run again, 95 %",
        lambda group: interval_cell(group.rates["any_medal"].runs95),
        RUNS_NOTE,
    ),
    "competitions95": Measure(
        "{}: competitions like these, 95 %",
        lambda group: interval_cell(group.rates["any_medal"].competitions95),
        COMPETITIONS_NOTE,
    ),
    "bounds": Measure("{}: bounds", _bounds, BOUNDS_NOTE),
    **{
        rate: Measure(f"{{}}: {rate.replace('_', ' ')} (%)", partial(_rate, rate), SEM_NOTE)
        for rate in RATES[1:]
    },
}


def board_groups(groups: Sequence[str]) -> list[str]:
    """A board's groups in the order of MLE-bench's README: all of them last."""
    return [*(name for name in groups if name != ALL), ALL]


def default_columns(groups: Sequence[str], by: GroupBy | None, example: Row | None) -> list[Column]:
    """The columns of MLE-bench's README, after the experiment, and the two intervals of all.

    `by` says how competitions are grouped. `example` is one of the board's experiments, which all
    have the same competitions.
    """
    return [
        FIXED["experiment"], FIXED["agent"], FIXED["model"],
        *(_group_column(name, "", by, example) for name in board_groups(groups)),
        *(_group_column(ALL, each, by, example) for each in ("runs95", "competitions95")),
        FIXED["hours"], FIXED["seeds"],
    ]  # fmt: skip


def chosen_columns(
    names: Sequence[str], groups: Sequence[str], by: GroupBy | None, example: Row | None
) -> list[Column]:
    """The columns with these names, in this order; each value has one or several, with commas.

    Raises:
        Invalid: no column is named, or a board has no such column.
    """
    known = {
        f"{group}.{measure}" if measure else group: (group, measure)
        for group in board_groups(groups)
        for measure in MEASURES
    }
    found = []
    for name in split_names(names, {*known, *FIXED}):
        if name in FIXED:
            found.append(FIXED[name])
        elif name in known:
            found.append(_group_column(*known[name], by, example))
        else:
            measures = ", ".join(f".{each}" for each in MEASURES if each)
            raise Invalid(
                f"columns: there is no column {name!r}; there are {', '.join(FIXED)}, and "
                f"{', '.join(board_groups(groups))}, these alone or with one of {measures}."
            )
    return found


def _group_column(name: str, measure: str, by: GroupBy | None, example: Row | None) -> Column:
    shown = MEASURES[measure]
    titles = COMPLEXITY_TITLES if by is GroupBy.COMPLEXITY else {}
    heading = shown.heading.format("All" if name == ALL else titles.get(name, name))
    return Column(
        _marked_heading(heading, name, example),
        lambda context, groups: _cell(context, groups.get(name), shown),
        shown.note,
    )


def _marked_heading(text: str, name: str, example: Row | None) -> str | Marked:
    """The heading, with a footnote if competitions of the group are flagged."""
    context, group = (None, None) if example is None else (example[0], example[1].get(name))
    if context is None or group is None:
        return text
    members = set(group.members)
    codes = sorted({code for slug, code, _ in context.flags if slug in members})
    return Marked(text, (f"with flagged competitions: {', '.join(codes)}",)) if codes else text


def _cell(context: ResultContext, group: GroupRates | None, shown: Measure) -> str | Marked:
    """A cell of a group, with a footnote if results are missing."""
    if group is None:
        return NOT_KNOWN
    return marked_of_group(context, group, shown.cell(group))


def marked_of_group(context: ResultContext, group: GroupRates, text: str) -> str | Marked:
    """A number of a group, with a footnote if results are missing."""
    if not group.missing:
        return text
    what = missing_note(group.missing, context.filters.padding)
    if group.without_results == group.competitions:
        return Marked(text, (f"no result at any of these competitions: {what}",))
    return Marked(text, (what,))


def _hours(context: ResultContext, groups: Rates) -> str:
    hours = (context.experiment.resources or {}).get("hours")
    return NOT_KNOWN if hours is None else f"{hours:g}"


FIXED = {
    "experiment": Column("Experiment", lambda context, _: context.experiment.name),
    "agent": Column("Agent", lambda context, _: context.experiment.agent),
    "model": Column("LLM(s) used", lambda context, _: context.experiment.model),
    "hours": Column("Running Time (hours)", _hours),
    "seeds": Column("Seeds", lambda context, _: str(len(context.grid.seeds))),
}
