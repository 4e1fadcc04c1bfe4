"""The charts: each a function from a picture's data to a specification of Vega-Lite.

Colours are those of Okabe and Ito, which people with any colour vision tell apart; whatever a
colour says, a letter, a shape or a dash says too. This module is loaded in the process that
renders, and in notebooks: `chart(kind, data)` gives an Altair chart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import altair as alt

Data = Mapping[str, Any]
BLUE, ORANGE, GREEN, PINK, SKY, RED = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00",
)  # fmt: skip
SERIES = [BLUE, ORANGE, GREEN, PINK, SKY, RED, "#000000", "#999999"]
MEDALS = {"gold": "#E3B505", "silver": "#AEB8C2", "bronze": "#C77B3B"}
STATES = {
    **MEDALS, "above_median": "#CFE3F5", "valid": "#EEF1F4", "rejected": "#F2C4C4",
    "nothing": "#F2C4C4", "failed": "#FFFFFF", "pending": "#FFFFFF", "missing": "#FFFFFF",
}  # fmt: skip
LETTERS = {
    "gold": "G", "silver": "S", "bronze": "B", "above_median": "+", "valid": "·", "rejected": "×",
    "nothing": "0", "failed": "!", "pending": "…", "missing": "–",
}  # fmt: skip
WIDTH = 560
ROW = 22  # height of one line of a chart with names
PERCENT = alt.Scale(domain=[0, 100])
INK = "#1b2430"


def chart(kind: str, data: Data) -> alt.TopLevelMixin:
    """The chart of this kind, with the title and the caption of the data."""
    made = CHARTS[kind](data)
    title = alt.TitleParams(
        data["title"], subtitle=data["lines"], anchor="start", subtitleColor="#55606e",
        fontSize=15, subtitleFontSize=11, limit=WIDTH + 260,
    )  # fmt: skip
    drawn: alt.TopLevelMixin = (
        made.properties(title=title, background="white", padding=12)
        .configure_axis(labelLimit=240, titleColor=INK, labelColor=INK, grid=True)
        .configure_legend(labelLimit=240, titleColor=INK, labelColor=INK)
        .configure_view(stroke="#d5dbe2")
    )
    return drawn


def _base(rows: Iterable[Mapping[str, Any]]) -> alt.Chart:
    """A chart of these rows, which go into the specification."""
    return alt.Chart(alt.InlineData(values=list(rows)))


def _medal_rates(data: Data) -> Any:
    """Stacked bars of the medals, best first, and the interval of any medal."""
    order = [row["experiment"] for row in data["rows"]]
    y = alt.Y("experiment:N", sort=order, title=None)
    stacked = [
        {"experiment": row["experiment"], "medal": medal, "rate": row[medal], "order": number}
        for row in data["rows"]
        for number, medal in enumerate(MEDALS)
    ]
    bars = (
        _base(stacked)
        .mark_bar(height=14, stroke="white")
        .encode(
            x=alt.X("rate:Q", title="attempts with a medal (%)", scale=PERCENT, stack="zero"),
            y=y,
            color=alt.Color(
                "medal:N",
                scale=alt.Scale(domain=list(MEDALS), range=list(MEDALS.values())),
                title="medal",
            ),
            order="order:Q",
        )
    )
    known = _base([row for row in data["rows"] if row["low"] is not None])
    ends = known.mark_rule(color=INK, strokeWidth=1.5).encode(x="low:Q", x2="high:Q", y=y)
    means = (
        _base(data["rows"])
        .mark_point(color=INK, filled=True, size=36, opacity=1)
        .encode(x="any_medal:Q", y=y)
    )
    return (bars + ends + means).properties(width=WIDTH, height=ROW * max(2, len(order)))


def _leaderboard(data: Data) -> Any:
    """Every team's score by its place, the medal lines, and the attempts."""
    y = alt.Y("score:Q", title=data["metric"], scale=alt.Scale(zero=False))
    x = alt.X(
        "place:Q",
        title="place on the human leaderboard (log)",
        scale=alt.Scale(type="log", nice=False),
    )
    layers = []
    if data["board"]:
        board = _base(data["board"])
        layers.append(board.mark_line(color="#999999", interpolate="step-after").encode(x=x, y=y))
    lines = _base(data["medal_lines"])
    layers.append(lines.mark_rule(strokeDash=[4, 3], color="#55606e").encode(y="score:Q"))
    layers.append(
        lines.mark_text(align="right", dx=-2, dy=-5, color=INK, fontSize=11).encode(
            y="score:Q", x=alt.value(WIDTH), text="line:N"
        )
    )
    if data["attempts"]:
        names = list(dict.fromkeys(one["experiment"] for one in data["attempts"]))
        layers.append(
            _base(data["attempts"])
            .mark_point(size=60, strokeWidth=2)
            .encode(
                x=x, y=y,
                color=alt.Color("experiment:N", sort=names,
                                scale=alt.Scale(domain=names, range=SERIES)),
                shape=alt.Shape("experiment:N", sort=names, scale=alt.Scale(domain=names)),
            )
        )  # fmt: skip
    return alt.layer(*layers).properties(width=WIDTH, height=300)


def _medals_over_time(data: Data) -> Any:
    """A line for each way to choose the final submission."""
    choices = list(dict.fromkeys(row["choice"] for row in data["rows"]))
    return (
        _base(data["rows"])
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X("at:Q", title=data["axis"]),
            y=alt.Y("any_medal:Q", title="attempts with a medal (%)", scale=PERCENT),
            color=alt.Color("choice:N", sort=choices, title="final submission",
                            scale=alt.Scale(domain=choices, range=SERIES)),
            strokeDash=alt.StrokeDash("choice:N", sort=choices, title="final submission",
                                      scale=alt.Scale(domain=choices)),
        )
        .properties(width=WIDTH, height=280)
    )  # fmt: skip


def _comparison(data: Data) -> Any:
    """A line between the two shares at each competition."""
    order = [row["competition"] for row in data["rows"]]
    y = alt.Y("competition:N", sort=order, title=None)
    points = [
        {"competition": row["competition"], "experiment": name, "share": row[side]}
        for row in data["rows"]
        for side, name in (("a", data["a"]), ("b", data["b"]))
    ]
    names = [data["a"], data["b"]]
    between = _base(data["rows"])
    marks = _base(points).mark_point(filled=True, size=60, opacity=1)
    return (
        between.mark_rule(color="#999999", strokeWidth=2).encode(x="a:Q", x2="b:Q", y=y)
        + marks.encode(
            x=alt.X("share:Q", title=f"{data['rate']} (%)", scale=PERCENT), y=y,
            color=alt.Color("experiment:N", sort=names,
                            scale=alt.Scale(domain=names, range=[BLUE, RED])),
            shape=alt.Shape("experiment:N", sort=names,
                            scale=alt.Scale(domain=names, range=["circle", "diamond"])),
        )
    ).properties(width=WIDTH, height=18 * max(2, len(order)))  # fmt: skip


def _cost(data: Data) -> Any:
    """Each experiment's rate of medals against the cost of a run."""
    base = _base(data["rows"])
    x = alt.X("cost:Q", title="dollars for a run (log)", scale=alt.Scale(type="log"))
    y = alt.Y("any_medal:Q", title="attempts with a medal (%)", scale=PERCENT)
    return (
        base.transform_filter("datum.low !== null").mark_rule(color="#999999").encode(
            x=x, y="low:Q", y2="high:Q")
        + base.mark_point(filled=True, size=70, color=BLUE, opacity=1).encode(x=x, y=y)
        + base.mark_text(align="left", dx=8, limit=200, color=INK).encode(
            x=x, y=y, text="experiment:N")
    ).properties(width=WIDTH, height=300)  # fmt: skip


def _heat_map(data: Data) -> Any:
    """Competitions by seeds; a colour and a letter for what came of each run."""
    order = list(dict.fromkeys(row["competition"] for row in data["rows"]))
    seeds = sorted({row["seed"] for row in data["rows"]})
    rows = [
        {**row, "letter": LETTERS[row["state"]], "outcome": _outcome(row["state"])}
        for row in data["rows"]
    ]
    there = [state for state in STATES if any(row["state"] == state for row in rows)]
    base = _base(rows).encode(
        x=alt.X(
            "seed:O",
            sort=seeds,
            title="seed",
            axis=alt.Axis(orient="top", labelAngle=0, grid=False),
        ),
        y=alt.Y("competition:N", sort=order, title=None, axis=alt.Axis(grid=False)),
    )
    scale = alt.Scale(
        domain=[_outcome(each) for each in there], range=[STATES[state] for state in there]
    )
    cells = base.mark_rect(stroke="#8b97a4", strokeWidth=0.5).encode(
        color=alt.Color("outcome:N", sort=None, scale=scale, title="outcome")
    )
    letters = base.mark_text(fontSize=11, fontWeight="bold", color="#16202b").encode(
        text="letter:N"
    )
    return (cells + letters).properties(
        width=30 * max(1, len(seeds)), height=18 * max(1, len(order))
    )


def _outcome(state: str) -> str:
    """The words of a state in the legend, with its letter."""
    return f"{LETTERS[state]} {state.replace('_', ' ')}"


CHARTS: dict[str, Callable[[Data], Any]] = {
    "medal-rates": _medal_rates,
    "leaderboard": _leaderboard,
    "medals-over-time": _medals_over_time,
    "comparison": _comparison,
    "cost": _cost,
    "heat-map": _heat_map,
}
