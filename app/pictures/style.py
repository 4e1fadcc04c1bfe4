"""The colours, sizes and fonts of all charts.

Colours are those of Okabe and Ito, which people with any colour vision can distinguish. The meaning
of a colour is also shown by a letter, a shape, a dash or a position in a fixed order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import altair as alt

Data = Mapping[str, Any]
BLUE, ORANGE, GREEN, PINK, SKY, RED = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00",
)  # fmt: skip
SERIES = [BLUE, ORANGE, GREEN, PINK, SKY, RED, "#000000", "#999999"]
MEDALS = {"gold": "#E3B505", "silver": "#AEB8C2", "bronze": "#C77B3B"}
STATES = {
    **MEDALS, "above_median": "#CFE3F5", "valid": "#EEF1F4", "reported": "#EEF1F4",
    "rejected": "#F2C4C4", "nothing": "#F2C4C4", "failed": "#FFFFFF", "pending": "#FFFFFF",
    "missing": "#FFFFFF",
}  # fmt: skip
WIDTH = 560
ROW = 22  # height of one line of a chart with names
INK = "#1b2430"
# The renderer measures texts in Liberation Sans. The others have the same widths; a browser without
# any of them draws wider texts, for which there is space at the right.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
PADDING = {"left": 12, "top": 12, "bottom": 12, "right": 48}


def percent() -> alt.Scale:
    """The axis of a rate."""
    return alt.Scale(domain=[0, 100])


def without_range(shown: Collection[Any]) -> dict[str, Any]:
    """Options of an axis with nothing to draw, whose description would be `Infinity to NaN`.

    >>> without_range([0.5])
    {}
    >>> without_range([])["axis"].to_dict()
    {'aria': False}
    """
    return {} if shown else {"axis": alt.Axis(aria=False)}


def base(rows: Iterable[Mapping[str, Any]]) -> alt.Chart:
    """A chart of these rows, which go into the specification."""
    return alt.Chart(alt.InlineData(values=list(rows)))
