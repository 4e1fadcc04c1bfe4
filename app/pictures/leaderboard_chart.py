"""The chart of a human leaderboard with the attempts on it."""

from __future__ import annotations

from typing import Any

import altair as alt

from app.pictures.score_range import beyond, drawable, names_apart, score_range
from app.pictures.style import INK, SERIES, WIDTH, Data, base, without_range

HEIGHT = 300
MARGIN = 0.06  # of the scores that are drawn, above and below them


def leaderboard_chart(data: Data) -> Any:
    """Every team's score by its place, the medal lines, and the attempts.

    An attempt whose score is outside of the drawing is at its edge, with a triangle that points
    there.
    """
    medal_lines = drawable(data["medal_lines"])
    limits = score_range(drawable(data["board"]), medal_lines, drawable(data["attempts"]))
    domain = None if limits is None else _with_margin(*limits)
    scale = alt.Scale(zero=False) if domain is None else alt.Scale(
        domain=list(domain), nice=False, zero=False)  # fmt: skip
    shown = [*data["board"], *medal_lines, *data["attempts"]]
    y = alt.Y("score:Q", title=data["metric"], scale=scale, **without_range(shown))
    x = alt.X(
        "place:Q",
        title="place on the human leaderboard (log)",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(labelSeparation=6),
    )
    layers = []
    if data["board"]:
        # If the line would leave the drawing, it runs along the edge, so that no renderer has to
        # cut it.
        low, high = domain or (0.0, 0.0)
        board = base(data["board"]).transform_calculate(
            drawn=f"clamp(datum.score, {low!r}, {high!r})"
        )
        layers.append(
            board.mark_line(color="#999999", interpolate="step-after").encode(
                x=x, y=alt.Y("drawn:Q", title=data["metric"], scale=scale)
            )
        )
    lines = base(medal_lines)
    layers.append(lines.mark_rule(strokeDash=[4, 3], color="#55606e").encode(y=y))
    if domain is not None:
        names = base(names_apart(medal_lines, domain, HEIGHT))
        layers.append(
            names.mark_text(align="right", dx=-2, dy=-5, color=INK, fontSize=11).encode(
                y="score:Q", x=alt.value(WIDTH), text="name:N"
            )
        )
    if data["attempts"]:
        layers += _attempts(data, limits, x, scale)
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)


def _attempts(
    data: Data, limits: tuple[float, float] | None, x: alt.X, scale: alt.Scale
) -> list[Any]:
    names = list(dict.fromkeys(one["experiment"] for one in data["attempts"]))
    rows = []
    for one, drawn in zip(data["attempts"], drawable(data["attempts"]), strict=True):
        score = drawn["score"]
        low, high = limits or (score, score)
        side = beyond(score, limits)
        rows.append({**one, "drawn": min(max(score, low), high), "beyond": side})
    encoding: dict[str, Any] = {
        "x": x,
        "y": alt.Y("drawn:Q", title=data["metric"], scale=scale),
        "color": alt.Color("experiment:N", sort=names,
                           scale=alt.Scale(domain=names, range=SERIES)),
    }  # fmt: skip
    shape = alt.Shape("experiment:N", sort=names, scale=alt.Scale(domain=names))
    layers = [base(rows).mark_point(size=60, strokeWidth=2).encode(**encoding, shape=shape)]
    for side, triangle, offset in (("above", "triangle-up", -10), ("below", "triangle-down", 10)):
        if any(row["beyond"] == side for row in rows):
            there = base(rows).transform_filter(f"datum.beyond === '{side}'")
            mark = there.mark_point(shape=triangle, size=25, strokeWidth=2, yOffset=offset)
            layers.append(mark.encode(**encoding))
    return layers


def _with_margin(low: float, high: float) -> tuple[float, float]:
    room = MARGIN * ((high - low) or abs(high) or 1.0)
    return low - room, high + room
