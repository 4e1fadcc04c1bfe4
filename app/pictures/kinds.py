"""The pictures of results: the numbers that each kind shows, and its caption."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from app.domain.result_choices import RATES, Padding
from app.domain.wording import are, counted
from app.pictures.captions import missing, seeds_each
from app.pictures.outcomes import outcomes_at
from app.pictures.picture import Picture
from app.pictures.score_range import beyond, score_range
from app.services.results.board import Board
from app.services.results.cells import HeatMap
from app.services.results.competition_results import CompetitionResult
from app.services.results.experiment_summary import ExperimentSummary
from app.services.results.inputs.scope import ResultContext
from app.services.results.medals_over_time import Curves
from app.services.runtime.catalogue import CatalogueEntry
from app.statistics.medals_over_time import Choice

MOST_PLACES = 400  # of a board that are drawn
MOST_SERIES = 7  # experiments with a colour of their own
OTHERS = "others"
MEDALS = ("gold", "silver", "bronze")


def medal_rates_picture(board: Board, suite: str) -> Picture:
    """The medals of each experiment of a board, with the interval of any medal."""
    rows = []
    for context, groups in board.rows:
        rates = groups["all"].rates
        low, high = rates["any_medal"].runs95 or (None, None)
        rows.append(
            {
                "experiment": context.experiment.name,
                "any_medal": rates["any_medal"].mean,
                "low": low,
                "high": high,
                **{medal: rates[medal].mean for medal in MEDALS},
            }
        )
    seeds = [len(context.grid.seeds) for context, _ in board.rows]
    absent = sum(len(context.missing) for context, _ in board.rows)
    padding = board.rows[0][0].filters.padding if board.rows else Padding.FAIL
    first = "" if board.next_cursor is None else "The first "
    return Picture(
        "medal-rates",
        f"Medals at {suite}",
        f"{first}{counted(len(rows), 'experiment')}, "
        f"{counted(len(board.competitions), 'competition')}, {seeds_each(seeds)}. "
        "Point and line: any medal and its 95 % interval for these competitions, run again. "
        f"{missing(absent, padding)}{_left_out(board.absent)}",
        {"rows": rows},
    )


def leaderboard_picture(entry: CatalogueEntry, attempts: Sequence[CompetitionResult]) -> Picture:
    """The human leaderboard of a competition, and all attempts on it."""
    board, metric = entry.leaderboard, entry.competition.metric
    scores = (board.scores or ()) if board else ()
    step = max(1, len(scores) // MOST_PLACES)
    drawn = [
        {"place": place, "score": score}
        for place, score in enumerate(scores, 1)
        if place % step == 0 or place in (1, len(scores))
    ]
    lines = [] if board is None else [
        {"line": name, "score": getattr(board.lines, name)}
        for name in (*MEDALS, "median")
        if getattr(board.lines, name) is not None
    ]  # fmt: skip
    placed = [one for one in attempts if one.score is not None and one.better is not None]
    names = list(dict.fromkeys(one.experiment for one in placed))[:MOST_SERIES]
    points = [
        {
            "experiment": one.experiment if one.experiment in names else OTHERS,
            "place": (one.better or 0) + 1,
            "score": one.score,
        }
        for one in placed
    ]
    teams = board.teams if board else None
    known = "teams not known" if teams is None else counted(teams, "team")
    pairs = Counter(name for name, _ in {(one.experiment, one.seed) for one in placed})
    limits = score_range(drawn, lines, points)
    others = len({one.experiment for one in placed}) - len(names)
    thinned = f" Every {step}th place is drawn." if step > 1 else ""
    grouped = f" Others: {counted(others, 'experiment')}." if others else ""
    outside = _outside(
        sum(beyond(score, limits) is not None for score in scores),
        sum(beyond(one.score, limits) is not None for one in placed if one.score is not None),
    )
    direction = "higher" if metric.higher_is_better else "lower"
    return Picture(
        "leaderboard",
        f"{entry.competition.title}: attempts on the human leaderboard",
        f"{known}; {counted(len(placed), 'attempt')} with a place of "
        f"{len(attempts)}, {seeds_each(list(pairs.values()))}; version {entry.version.number}. "
        f"{direction.capitalize()} is better; scores have no interval here."
        f"{outside}{thinned}{grouped}",
        {
            "board": drawn,
            "medal_lines": lines,
            "attempts": points,
            "metric": f"{metric.name} ({direction} is better)",
        },
    )


def medals_over_time_picture(name: str, found: Curves) -> Picture:
    """Any medal after each number of hours, tokens or dollars, for four choices."""
    rows = []
    for choice, points in found.points.items():
        for point in points:
            low, high = point.any_medal_runs95 or point.any_medal_competitions95 or (None, None)
            rows.append({"choice": choice.value, "at": point.at, "any_medal": point.any_medal,
                         "low": low, "high": high})  # fmt: skip
    without = f" {_reported_none(found)}" if found.left_out else ""
    return Picture(
        "medals-over-time",
        f"Medals over {found.axis.value}: {name}",
        f"{counted(found.runs, 'run')}, {counted(found.seeds, 'seed')}; all competitions weigh the "
        f"same. {_band(found)} {missing(len(found.missing), found.padding)}{without}",
        {"rows": rows, "axis": found.axis.value},
    )


def _band(found: Curves) -> str:
    """The sentence that explains the band."""
    points = found.points[Choice.SELECTED]
    if any(point.any_medal_runs95 for point in points):
        which = "these competitions, run again"
    elif any(point.any_medal_competitions95 for point in points):
        which = "competitions like these, as one has a single run"
    else:
        return "A single run has no interval."
    return f"Band: the 95 % interval of {Choice.SELECTED} at each moment by itself, for {which}."


def _reported_none(found: Curves) -> str:
    return f"{are(found.left_out, 'run')} left out: no {found.axis.value} reported."


def comparison_picture(a: ResultContext, b: ResultContext, rate: str, sentence: str) -> Picture:
    """Two experiments' shares at each competition."""
    at = RATES.index(rate)
    ours, theirs = (100.0 * one.grid.shares[:, at] for one in (a, b))
    rows = [
        {"competition": slug, "a": float(x), "b": float(y)}
        for slug, x, y in zip(a.grid.competitions, ours, theirs, strict=True)
    ]
    rows.sort(key=lambda row: (row["b"] - row["a"], row["competition"]))  # type: ignore[operator]
    seeds = [len(a.grid.seeds), len(b.grid.seeds)]
    absent = missing(len(a.missing) + len(b.missing), a.filters.padding)
    return Picture(
        "comparison",
        f"{a.experiment.name} and {b.experiment.name}",
        f"{sentence} {seeds_each(seeds).capitalize()}. {absent}",
        {"rows": rows, "a": a.experiment.name, "b": b.experiment.name,
         "rate": rate.replace("_", " ")},
    )  # fmt: skip


def cost_picture(found: Sequence[ExperimentSummary]) -> Picture:
    """The medals of experiments against the cost of a run."""
    rows, absent, seeds = [], 0, []
    for one in found:
        if one.rates is None or not one.cost_usd or not one.priced:
            continue
        absent += one.missing
        seeds.append(one.seeds)
        low, high = one.interval or (None, None)
        rows.append(
            {
                "experiment": one.experiment.name,
                "cost": one.cost_usd / one.priced,
                "any_medal": one.rates["any_medal"],
                "low": low,
                "high": high,
            }
        )
    return Picture(
        "cost",
        "Medals against cost",
        f"{counted(len(rows), 'experiment')} with a reported cost above 0 and a rate, of "
        f"{len(found)}; {seeds_each(seeds)}. "
        "Each over its own competitions; 95 % interval for these competitions, run again. "
        f"{missing(absent, Padding.AVAILABLE)}",
        {"rows": rows},
    )


def heat_map_picture(name: str, found: HeatMap) -> Picture:
    """A grid of competitions by seeds with the outcome of each run of an experiment."""
    rows = [
        {"competition": row.competition, "seed": cell.seed, "state": cell.state.value}
        for row in found.rows
        for cell in row.cells
    ]
    words = outcomes_at(found.has_medians)
    counts = "; ".join(f"{count} {words[state]}" for state, count in found.counts.items())
    return Picture(
        "heat-map",
        name,
        f"{counted(len(found.rows), 'competition')}, {counted(len(found.seeds), 'seed')}: "
        f"{counts}.{_any_medal(found.summary)}",
        {"rows": rows, "outcomes": dict(words)},
    )


def _any_medal(about: ExperimentSummary) -> str:
    """The rate over the cells with a result, and its interval."""
    if about.rates is None:
        return ""
    rate = f" Any medal: {about.rates['any_medal']:.1f} % of the results"
    if about.interval is None:
        return f"{rate}, without an interval."
    low, high = about.interval
    return f"{rate}; 95 % interval for these competitions, run again: {low:.1f} to {high:.1f}."


def _outside(teams: int, attempts: int) -> str:
    """A text about the number of scores outside of the drawing."""
    parts = [counted(count, noun) for count, noun in ((attempts, "attempt"), (teams, "team"))
             if count]  # fmt: skip
    if not parts:
        return ""
    verb = "is" if teams + attempts == 1 else "are"
    edge = " (attempts: triangles at its edge)" if attempts else ""
    return f" {' and '.join(parts)} {verb} beyond the drawing{edge}."


def _left_out(absent: Sequence[tuple[str, str]]) -> str:
    return f" {counted(len(absent), 'experiment')} not counted." if absent else ""
