"""The charts: each a function from a picture's data to a specification of Vega-Lite.

This module is loaded in the process that renders, and in notebooks: `chart(kind, data)` gives an
Altair chart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import altair as alt

from app.pictures.leaderboard_chart import leaderboard_chart
from app.pictures.outcomes import LETTERS, OUTCOMES
from app.pictures.style import (
    BLUE,
    FONT,
    INK,
    MEDALS,
    PADDING,
    RED,
    ROW,
    SERIES,
    STATES,
    WIDTH,
    Data,
    base,
    percent,
    without_range,
)

BANDED = "selected"  # the choice whose interval is drawn; bands of all four would hide the lines
TITLE_PIXELS, LINE_PIXELS = 7.7, 5.4  # of a character of the title and of the caption, about
AXIS_PIXELS = 80  # of the labels left of a drawing, about
WIDER = 1.2  # DejaVu Sans, next to Liberation Sans


def chart(kind: str, data: Data) -> alt.TopLevelMixin:
    """The chart of this kind, with the title and the caption of the data."""
    made = CHARTS[kind](data)
    title = alt.TitleParams(
        data["title"], subtitle=data["lines"], anchor="start", subtitleColor="#55606e",
        fontSize=15, subtitleFontSize=11, limit=WIDTH + 260,
    )  # fmt: skip
    drawn: alt.TopLevelMixin = (
        made.properties(title=title, background="white", padding=_padding(data, made.width))
        .configure(font=FONT)
        .configure_axis(labelLimit=240, titleColor=INK, labelColor=INK, grid=True)
        .configure_legend(labelLimit=240, titleColor=INK, labelColor=INK)
        .configure_view(stroke="#d5dbe2")
    )
    return drawn


def _padding(data: Data, width: float) -> dict[str, float]:
    """The space around a drawing of this width, enough for a wider font than was measured."""
    longest = max([TITLE_PIXELS * len(data["title"]),
                   *(LINE_PIXELS * len(line) for line in data["lines"])])  # fmt: skip
    there = max(longest, width + AXIS_PIXELS)
    return {**PADDING, "right": max(PADDING["right"], round(WIDER * longest - there))}


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
        base(stacked)
        .mark_bar(height=14, stroke="white")
        .encode(
            x=alt.X("rate:Q", title="attempts with a medal (%)", scale=percent(), stack="zero"),
            y=y,
            color=alt.Color(
                "medal:N",
                scale=alt.Scale(domain=list(MEDALS), range=list(MEDALS.values())),
                title="medal",
            ),
            order="order:Q",
        )
    )
    known = base([row for row in data["rows"] if row["low"] is not None])
    ends = known.mark_rule(color=INK, strokeWidth=1.5).encode(x="low:Q", x2="high:Q", y=y)
    means = (
        base(data["rows"])
        .mark_point(color=INK, filled=True, size=36, opacity=1)
        .encode(x="any_medal:Q", y=y)
    )
    return (bars + ends + means).properties(width=WIDTH, height=ROW * max(2, len(order)))


def _medals_over_time(data: Data) -> Any:
    """A line for each way to choose the final submission, and the interval of one of them."""
    choices = list(dict.fromkeys(row["choice"] for row in data["rows"]))
    colors = alt.Color("choice:N", sort=choices, title="final submission",
                       scale=alt.Scale(domain=choices, range=SERIES))  # fmt: skip
    x = alt.X("at:Q", title=data["axis"], **without_range(data["rows"]))
    title = "attempts with a medal (%)"
    # With one moment, as over dollars if no run had costs, a line has no length and a band no area.
    alone = len({row["at"] for row in data["rows"]}) == 1
    points: Any = {"point": True} if alone else {}
    lines = (
        base(data["rows"])
        .mark_line(interpolate="step-after", strokeWidth=2, **points)
        .encode(
            x=x,
            y=alt.Y("any_medal:Q", title=title, scale=percent()),
            color=colors,
            strokeDash=alt.StrokeDash("choice:N", sort=choices, title="final submission",
                                      scale=alt.Scale(domain=choices)),
        )
    )  # fmt: skip
    color = SERIES[choices.index(BANDED)] if BANDED in choices else INK
    known = [row for row in data["rows"] if row["choice"] == BANDED and row.get("low") is not None]
    banded = base(known)
    band = (
        banded.mark_rule(strokeWidth=6, opacity=0.15, color=color)
        if alone
        else banded.mark_area(interpolate="step-after", opacity=0.15, color=color)
    ).encode(x=x, y=alt.Y("low:Q", title=title, scale=percent()), y2="high:Q")
    return (band + lines if known else lines).properties(width=WIDTH, height=280)


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
    between = base(data["rows"])
    marks = base(points).mark_point(filled=True, size=60, opacity=1)
    return (
        between.mark_rule(color="#999999", strokeWidth=2).encode(x="a:Q", x2="b:Q", y=y)
        + marks.encode(
            x=alt.X("share:Q", title=f"{data['rate']} (%)", scale=percent()), y=y,
            color=alt.Color("experiment:N", sort=names,
                            scale=alt.Scale(domain=names, range=[BLUE, RED])),
            shape=alt.Shape("experiment:N", sort=names,
                            scale=alt.Scale(domain=names, range=["circle", "diamond"])),
        )
    ).properties(width=WIDTH, height=18 * max(2, len(order)))  # fmt: skip


def _cost(data: Data) -> Any:
    """Each experiment's rate of medals against the cost of a run."""
    points = base(data["rows"])
    x = alt.X("cost:Q", title="dollars for a run (log)", scale=alt.Scale(type="log"),
              **without_range(data["rows"]))  # fmt: skip
    y = alt.Y("any_medal:Q", title="attempts with a medal (%)", scale=percent())
    return (
        points.transform_filter("datum.low !== null").mark_rule(color="#999999").encode(
            x=x, y="low:Q", y2="high:Q")
        + points.mark_point(filled=True, size=70, color=BLUE, opacity=1).encode(x=x, y=y)
        + points.mark_text(align="left", dx=8, limit=200, color=INK).encode(
            x=x, y=y, text="experiment:N")
    ).properties(width=WIDTH, height=300)  # fmt: skip


def _heat_map(data: Data) -> Any:
    """Competitions by seeds; a colour and a letter for the outcome of each run."""
    order = list(dict.fromkeys(row["competition"] for row in data["rows"]))
    seeds = sorted({row["seed"] for row in data["rows"]})
    outcomes = data.get("outcomes", OUTCOMES)
    words = {state: f"{LETTERS[state]} {text}" for state, text in outcomes.items()}
    rows = [
        {**row, "letter": LETTERS[row["state"]], "outcome": words[row["state"]]}
        for row in data["rows"]
    ]
    there = [state for state in STATES if any(row["state"] == state for row in rows)]
    cells = base(rows).encode(
        x=alt.X(
            "seed:O",
            sort=seeds,
            title="seed",
            axis=alt.Axis(orient="top", labelAngle=0, grid=False),
        ),
        y=alt.Y("competition:N", sort=order, title=None, axis=alt.Axis(grid=False)),
    )
    scale = alt.Scale(
        domain=[words[each] for each in there], range=[STATES[state] for state in there]
    )
    squares = cells.mark_rect(stroke="#8b97a4", strokeWidth=0.5).encode(
        color=alt.Color("outcome:N", sort=None, scale=scale, title="outcome")
    )
    letters = cells.mark_text(fontSize=11, fontWeight="bold", color="#16202b").encode(
        text="letter:N"
    )
    return (squares + letters).properties(
        width=30 * max(1, len(seeds)), height=18 * max(1, len(order))
    )


CHARTS: dict[str, Callable[[Data], Any]] = {
    "medal-rates": _medal_rates,
    "leaderboard": leaderboard_chart,
    "medals-over-time": _medals_over_time,
    "comparison": _comparison,
    "cost": _cost,
    "heat-map": _heat_map,
}
