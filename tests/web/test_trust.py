"""Receipts, regrades and the noise of scores on pages, held against the JSON."""

from __future__ import annotations

import re
from typing import Any

from app.services.results.noise.experiment_noise import ONE_ERROR
from tests.factories import good_submission
from tests.web.conftest import caller, visitor
from tests.web.dataset import REGRADED, Filled
from tests.web.test_live import new_run, submit

ROW = re.compile(r"<tr>.*?</tr>", re.DOTALL)


def v1(filled: Filled, path: str) -> Any:
    answer = caller(filled.server).get(f"/v1{path}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_run_and_its_submission_show_the_receipt_that_is_in_force(filled: Filled) -> None:
    browser = visitor(filled.server, filled.researcher)
    run = next(
        r for r in filled.runs if r["competition"] == REGRADED and r["sent"] and not r["open"]
    )
    listed = v1(filled, f"/runs/{run['id']}/receipts")["items"]
    last = listed[-1]

    page = browser.get(f"/runs/{run['id']}").text

    assert f'href="/v1/receipts/{last["id"]}">{last["id"]}</a> (in force' in page
    for old in listed[:-1]:
        assert f"{old['id']}</a> (replaced" in page
    if last["submission"]:
        assert last["id"] in browser.get(f"/submissions/{last['submission']}").text
    of_all = browser.get(f"/experiments/{run['experiment']}/receipts").text
    row = next(row for row in ROW.findall(of_all) if f">{last['id']}</a>" in row)
    assert "in force" in row
    unfinished = next(r for r in filled.runs if r["open"])
    assert "none before the run is closed" in browser.get(f"/runs/{unfinished['id']}").text


def test_an_issued_receipt_and_a_freeze_are_on_the_page_of_the_experiment(filled: Filled) -> None:
    admin = caller(filled.server)
    admin.post("/v1/experiments", json={"name": "frozen-one", "agent": "a", "model": "m"})
    plan = {"competitions": [filled.slugs[0]], "seeds": [0, 1], "feedback": "none"}
    frozen = admin.post("/v1/experiments/frozen-one/freeze", json=plan).json()
    browser = visitor(filled.server, filled.researcher)

    text = browser.get("/experiments/frozen-one/receipts").text

    assert "Frozen <time" in text
    assert frozen["id"] in text
    departures = v1(filled, "/experiments/frozen-one/freeze")["departures"]
    assert f"{len(departures) or 'no'} departure" in text
    assert "It was not frozen" in browser.get("/experiments/careful-agent/receipts").text


def test_a_competition_shows_its_regrades_with_their_state(filled: Filled) -> None:
    found = v1(filled, f"/competitions/{REGRADED}/regrades")["items"]
    text = visitor(filled.server, filled.researcher).get(f"/competitions/{REGRADED}").text

    assert found
    for one in found:
        row = next(row for row in ROW.findall(text) if f">{one['id']}</a></th>" in row)
        progress = one["progress"]
        done = progress["graded"] + progress["rejected"] + progress["failed"]
        assert one["state"] in row
        assert f"{done} of {progress['total']}" in row
        assert "&lt;script&gt;" in row  # its reason
        assert "<script" not in row


def uneven(filled: Filled, error: float) -> bytes:
    """A file whose score depends much on which rows are asked: every second pair is right."""
    header, *lines = good_submission(filled.folder(0)).decode().splitlines()
    rows = [line.split(",") for line in lines]
    wrong = [f"{i},{float(value) + error * (n // 2 % 2)}" for n, (i, value) in enumerate(rows)]
    return "\n".join([header, *wrong, ""]).encode()


def test_marks_are_where_the_noise_says_so(filled: Filled) -> None:
    browser = visitor(filled.server, filled.researcher)
    run = new_run(filled, "near-the-lines")
    near = [submit(filled, run, data=uneven(filled, error)) for error in (0.07, 0.14, 0.21, 0.28)]
    for sent in near:
        v1(filled, f"/submissions/{sent}/uncertainty")
    board = browser.get(f"/competitions/{REGRADED}").text
    marked = measured = 0
    for sent in [*filled.measured, *near]:
        one = v1(filled, f"/submissions/{sent}")
        page = browser.get(f"/submissions/{sent}").text
        if one["state"] != "graded":
            assert "Noise of the score" not in page
            continue
        if one.get("regrade"):  # what is kept is the noise of the first grade
            assert "not known: a regrade gave the score" in page
            rows = [row for row in ROW.findall(board) if f"/submissions/{sent}" in row]
            assert "≈</abbr>" not in "".join(rows)
            continue
        noise = v1(filled, f"/submissions/{sent}/uncertainty")
        measured += 1
        assert f"± {noise['standard_error']:.6g}" in page
        assert f"{noise['low']:.6g} to {noise['high']:.6g}" in page
        is_near = noise["medals"][one["grade"]["medal"] or "none"] <= 1 - ONE_ERROR
        marked += is_near
        assert ("≈ Another medal is within its noise" in page) == is_near
        pages = [browser.get(f"/runs/{one['run']}").text]
        if sent not in near[:-1]:  # a board has the final submission of a run
            pages.append(board)
        for text in pages:
            row = next(row for row in ROW.findall(text) if f"/submissions/{sent}" in row)
            assert ("≈</abbr>" in row) == is_near
        if sent == near[-1]:
            experiment = v1(filled, f"/runs/{one['run']}")["experiment"]
            heat_map = browser.get(f"/experiments/{experiment}").text
            assert ("≈</a>" in heat_map) == ("nearer to a medal line" in heat_map) == is_near
            listed = browser.get(f"/?q={experiment}").text
            row = next(row for row in ROW.findall(listed) if f"/experiments/{experiment}" in row)
            assert ("≈</abbr>" in row) == is_near
    assert measured > 2
    assert marked > 0
