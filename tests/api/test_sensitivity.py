"""How much a rate hangs on single choices, against the rates asked one by one."""

from __future__ import annotations

import pytest

from tests.api.conftest import Podium
from tests.api.test_results import add_run, close, podium, rates  # noqa: F401
from tests.factories import good_submission

FLAG = '[[flags]]\ncode = "{}"\nnote = "A test."\n'


def mean(podium: Podium, name: str, query: str) -> float:  # noqa: F811
    found = rates(podium, name, query).json()
    return found["groups"]["all"]["any_medal"]["mean"]


def test_each_variant_is_the_rate_that_one_would_ask_for(podium: Podium) -> None:  # noqa: F811
    folders = [
        podium.competition(toml=FLAG.format("leaky")),
        podium.competition(toml=FLAG.format("crowded")),
        podium.competition(),
    ]
    name = podium.experiment()
    for number, folder in enumerate(folders):
        for seed in range(2):
            if (number, seed) == (2, 1):
                continue  # one result is missing
            run = add_run(podium, name, folder.name, seed)
            if number or seed:
                run.submit(good_submission(folder))
            close(podium, run)
    path = f"/v1/experiments/{name}/sensitivity"
    assert podium.admin.get(path).status_code == 409
    found = podium.admin.get(f"{path}?padding=fail").json()
    assert found["mean"] == pytest.approx(mean(podium, name, "padding=fail"))
    variants = {(one["choice"], one["name"]): one for one in found["variants"]}
    assert len(variants) == 2 + 3 + 3
    for code in ("leaky", "crowded"):
        asked = mean(podium, name, f"padding=fail&exclude_flags={code}")
        one = variants["flag", code]
        assert one["mean"] == pytest.approx(asked)
        assert one["change"] == pytest.approx(asked - found["mean"])
        assert one["competitions"] == 2
    by_slug = {folder.name: share for folder, share in zip(folders, (50, 100, 50), strict=True)}
    for slug in by_slug:
        rest = [share for other, share in by_slug.items() if other != slug]
        assert variants["competition", slug]["mean"] == pytest.approx(sum(rest) / 2)
    for padding in ("complete", "available"):
        asked = mean(podium, name, f"padding={padding}")
        assert variants["padding", padding]["mean"] == pytest.approx(asked)
    refused = variants["padding", "none"]
    assert (refused["mean"], refused["change"]) == (None, None)
    assert "There is no result" in refused["refused"]
    changes = [abs(one["change"]) for one in found["variants"] if one["choice"] == "competition"]
    assert changes == sorted(changes, reverse=True)

    text = podium.admin.get(f"{path}?padding=fail", headers={"Accept": "text/markdown"}).text
    assert "without the flag leaky" in text
    lines = podium.admin.get(f"{path}?padding=fail", headers={"Accept": "text/csv"}).text
    assert len(lines.splitlines()) == 1 + 8


def test_a_single_competition_cannot_be_left_out(podium: Podium) -> None:  # noqa: F811
    folder = podium.competition()
    name = podium.experiment()
    run = add_run(podium, name, folder.name, 0)
    run.submit(good_submission(folder))
    found = podium.admin.get(f"/v1/experiments/{name}/sensitivity").json()
    one = next(one for one in found["variants"] if one["choice"] == "competition")
    assert (one["mean"], one["refused"]) == (None, "It is the only competition.")
