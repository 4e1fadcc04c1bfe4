"""Every kind of picture, from its data to bytes that viewers read."""

from __future__ import annotations

import concurrent.futures
import json
import time
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from app.errors import Invalid, Unavailable
from app.pictures.charts import CHARTS, chart
from app.pictures.picture import Picture
from app.pictures.program import render
from app.pictures.renderer import (
    BUSY,
    MAX_AT_ONCE,
    MOST_NAMES,
    MOST_ROWS,
    Renderer,
    RenderingFailed,
)
from tests.web.dataset import EVIL_NAME

RATE = {"any_medal": 50.0, "low": 30.0, "high": 70.0, "gold": 20.0, "silver": 20.0, "bronze": 10.0}
VALUES: dict[str, dict[str, Any]] = {
    "medal-rates": {"rows": [{"experiment": "a", **RATE}, {"experiment": EVIL_NAME, **RATE,
                                                           "low": None, "high": None}]},
    "leaderboard": {
        "metric": "rmse", "board": [{"place": 1, "score": 0.1}, {"place": 2, "score": 0.2}],
        "medal_lines": [{"line": "gold", "score": 0.1}],
        "attempts": [{"experiment": EVIL_NAME, "place": 2, "score": 0.15}],
    },
    "medals-over-time": {"axis": "hours", "rows": [
        {"choice": "selected", "at": 1.0, "any_medal": 10.0, "low": 5.0, "high": 15.5},
        {"choice": "oracle", "at": 1.0, "any_medal": 20.0, "low": None, "high": None}]},
    "comparison": {"a": "one", "b": EVIL_NAME, "rate": "any medal", "rows": [
        {"competition": "bikes", "a": 100.0, "b": 0.0}]},
    "cost": {"rows": [{"experiment": EVIL_NAME, "cost": 1.5, "any_medal": 40.0, "low": None,
                       "high": None}]},
    "heat-map": {"rows": [{"competition": "bikes", "seed": seed, "state": state}
                          for seed, state in enumerate(("gold", "failed", "missing", "nothing"))]},
}  # fmt: skip
LEADER = {"metric": "m", "board": [], "medal_lines": [], "attempts": []}
EMPTY = {"leaderboard": LEADER, "comparison": {"a": "x", "b": "y", "rate": "r", "rows": []},
         "medals-over-time": {"axis": "hours", "rows": []}}  # fmt: skip


def picture(kind: str, values: dict[str, Any]) -> Picture:
    return Picture(kind, f"A title of {EVIL_NAME}", "5 seeds & <b>1</b> missing. " * 9, values)


def test_every_kind_has_an_example_here() -> None:
    assert set(VALUES) == set(CHARTS)


@pytest.mark.parametrize("kind", sorted(CHARTS))
def test_a_specification_is_valid_and_has_its_numbers_and_caption(kind: str) -> None:
    data = picture(kind, VALUES[kind]).data

    found = json.dumps(chart(kind, data).to_dict(), ensure_ascii=False)  # to_dict validates

    for row in VALUES[kind].get("rows", VALUES[kind].get("attempts", [])):
        for value in row.values():
            assert json.dumps(value, ensure_ascii=False) in found
    assert "5 seeds" in found
    assert "http" not in found.replace("https://vega.github.io/schema", "")


@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_a_name_of_emoji_that_is_too_long_for_the_picture_is_drawn(form: str) -> None:
    names = ["\U0001f600" * 200, "\U0001f601" * 200]
    rows = [{"experiment": name, **RATE} for name in names]
    data = Picture("medal-rates", names[0], "Two of them.", {"rows": rows}).data

    drawn = render("medal-rates", form, data)

    if form == "svg":
        assert b"[1F600]" in drawn
        assert b"[1F601]" in drawn
    else:
        assert drawn.startswith({"png": b"\x89PNG", "pdf": b"%PDF"}[form])


@pytest.mark.parametrize("kind", sorted(CHARTS))
@pytest.mark.parametrize("filled", [True, False])
def test_an_svg_is_xml_with_its_words_and_without_scripts(kind: str, filled: bool) -> None:
    values = VALUES[kind] if filled else EMPTY.get(kind, {"rows": []})
    data = picture(kind, values).data

    root = ET.fromstring(render(kind, "svg", data))

    space = "{http://www.w3.org/2000/svg}"
    assert root.find(f"{space}title").text == data["title"]
    assert root.find(f"{space}desc").text.startswith("5 seeds & <b>1</b> missing")
    names = {each.tag.removeprefix(space) for each in root.iter()}
    assert names <= {"svg", "title", "desc", "g", "path", "text", "tspan", "rect", "line", "defs",
                     "clipPath", "linearGradient", "stop"}  # fmt: skip
    words = [each.get("aria-label", "") for each in root.iter()]
    assert not [each for each in words if "NaN" in each or "Infinity" in each]


def test_medals_at_one_moment_are_points_with_an_interval() -> None:
    rows = [
        {"choice": choice, "at": 0.0, "any_medal": 40.0, "low": 5.0, "high": 75.5}
        for choice in ("selected", "oracle") for _ in range(24)
    ]  # fmt: skip
    values = {"axis": "dollars", "rows": rows}

    root = ET.fromstring(
        render("medals-over-time", "svg", picture("medals-over-time", values).data)
    )

    drawn = {each.get("aria-roledescription") for each in root.iter()}
    assert {"point", "rule mark"} <= drawn
    assert "area mark" not in drawn


@pytest.mark.parametrize("odd", ["\x1b", "\x00", "\ufffe", "\uffff"])
def test_a_character_that_xml_does_not_have_is_replaced(odd: str) -> None:
    one = Picture("leaderboard", f"a title{odd}", f"said{odd}", {**LEADER, "metric": f"m{odd}"})

    assert "a title\ufffd" in "".join(
        ET.fromstring(render("leaderboard", "svg", one.data)).itertext()
    )


def test_an_svg_names_the_font_in_which_its_texts_were_measured_and_those_as_wide() -> None:
    root = ET.fromstring(render("cost", "svg", picture("cost", VALUES["cost"]).data))

    fonts = {each.get("font-family") for each in root.iter("{http://www.w3.org/2000/svg}text")}
    assert fonts == {"Liberation Sans, Arial, Helvetica, sans-serif"}


def test_the_other_forms_are_what_they_are_called() -> None:
    data = picture("cost", VALUES["cost"]).data

    assert render("cost", "png", data).startswith(b"\x89PNG")
    assert render("cost", "pdf", data).startswith(b"%PDF")
    schema = json.loads(render("cost", "vl.json", data))["$schema"]
    assert "vega-lite" in schema


def test_the_same_picture_is_rendered_once_and_another_anew() -> None:
    renderer = Renderer()
    one = picture("cost", VALUES["cost"])

    first = renderer.render(one, "svg")
    started = time.perf_counter()
    again = [renderer.render(one, "svg") for _ in range(100)]

    assert time.perf_counter() - started < 10  # processes would take half a second each
    assert set(again) == {first}
    other = picture("cost", {"rows": []})
    assert renderer.render(other, "svg")[1] != first[1]


@pytest.mark.parametrize("kind", sorted(MOST_ROWS))
def test_a_picture_that_would_take_gigabytes_is_refused_and_its_csv_is_not(kind: str) -> None:
    large = picture(
        kind, {**VALUES[kind], "rows": [VALUES[kind]["rows"][0]] * (MOST_ROWS[kind] + 1)}
    )

    with pytest.raises(Invalid, match="as CSV"):
        Renderer().render(large, "png")
    assert Renderer().render(large, "csv")[0].count(b"\n") > MOST_ROWS[kind]


def test_an_axis_on_which_the_renderer_fails_is_refused_and_a_shorter_one_is_drawn() -> None:
    rows = [{"competition": "a", "seed": seed, "state": "gold"} for seed in range(MOST_NAMES + 1)]

    with pytest.raises(Invalid, match="1,001 names"):
        Renderer().render(picture("heat-map", {"rows": rows}), "svg")
    assert Renderer().render(picture("heat-map", {"rows": rows[1:]}), "svg")[0].startswith(b"<svg")


def test_a_renderer_that_ends_early_is_podiums_fault() -> None:
    with pytest.raises(RenderingFailed, match="status 1"):
        Renderer().render(Picture("no-such-kind", "t", "c", {}), "svg")


def test_many_pictures_at_once_wait_in_few_threads() -> None:
    renderer = Renderer()

    def draw(number: int) -> str:
        try:
            renderer.render(picture("cost", {"rows": [], "number": number}), "vl.json")
        except Unavailable as error:
            return error.detail
        return "drawn"

    with concurrent.futures.ThreadPoolExecutor(MAX_AT_ONCE + 3) as threads:
        came = list(threads.map(draw, range(MAX_AT_ONCE + 3)))

    assert came.count("drawn") >= MAX_AT_ONCE
    assert came.count(BUSY) >= 1
    assert draw(99) == "drawn"
