"""The loss by choosing a final submission, over HTTP: by hand, beside pass@k, and refused."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

import pytest

from tests.api.conftest import Podium
from tests.api.test_results import add_run, close, podium  # noqa: F401
from tests.factories import good_submission
from tests.grading_reports import random_report, suites


def halves(folder: Path, *, public: float, private: float) -> bytes:
    """A submission that is wrong by one amount in public rows, by another in private ones."""
    first, second = (
        good_submission(folder, shift=shift).decode().splitlines() for shift in (public, private)
    )
    rows = [(first, second)[at % 2][at + 1] for at in range(len(first) - 1)]
    return ("\n".join([first[0], *rows]) + "\n").encode()


def ask(podium: Podium, name: str, query: str = "", accept: str = ""):  # noqa: F811
    headers = {"Accept": accept} if accept else {}
    return podium.admin.get(f"/v1/experiments/{name}/selection?{query}", headers=headers)


def misled(podium: Podium, folder: Path) -> str:  # noqa: F811
    """Three runs: public scores mislead the first, not the second; the third sends nothing."""
    name = podium.experiment()
    run = add_run(podium, name, folder.name, 0)
    run.submit(halves(folder, public=0.5, private=0.0))  # gold, by a bad public score
    run.submit(halves(folder, public=0.0, private=0.5))
    run = add_run(podium, name, folder.name, 1)
    run.submit(halves(folder, public=0.0, private=0.0))
    run.submit(halves(folder, public=0.4, private=0.4))
    for one in (add_run(podium, name, folder.name, 2),):
        close(podium, one)
    return name


def test_regret_shake_up_and_the_choice_by_public_score(podium: Podium) -> None:  # noqa: F811
    folder = podium.competition()
    name = misled(podium, folder)
    found = ask(podium, name).json()
    assert (found["runs"], found["with_choice"], found["unplaced"]) == (3, 2, [])
    by_choice = {one["choice"]: one for one in found["choices"]}
    assert set(by_choice) == {"last", "selected", "best-public"}
    public = by_choice["best-public"]["medals"]
    assert public["choice"] == pytest.approx(100 / 3)
    assert public["oracle"] == pytest.approx(200 / 3)
    assert public["regret"] == pytest.approx(100 / 3)
    low, high = public["runs95"]
    assert 0 <= low < 100 / 3 < high <= 100
    assert by_choice["last"]["medals"]["runs_that_lost_a_medal"] == 2
    # The board is 0.05, 0.10, ... 0.60: with 0.5 nine teams are better, one has the same score.
    lost = 100.0 - 100 * (2 + 1 / 2) / 12
    places = by_choice["best-public"]["percentiles"]
    assert places["regret"] == pytest.approx(lost / 3)
    strict = ask(podium, name, "percentile=strictly-beaten").json()
    changed = strict["choices"][2]["percentiles"]["regret"]
    assert changed == pytest.approx((100 - 100 * 2 / 12) / 3)
    assert found["shake_up"]["runs"] == 2
    assert found["shake_up"]["left_out"] == 1
    assert found["shake_up"]["shake_up"]["value"] == pytest.approx(100 * (0.5 + 0) / 2)
    assert found["shake_up"]["best_kept"]["value"] == 50.0
    text = ask(podium, name, accept="text/markdown").text
    assert "2 of 3 runs have two or more valid submissions" in text
    assert "Left out: 1 run with fewer than two public scores." in text
    rows = ask(podium, name, accept="text/csv").text.splitlines()
    assert len(rows) == 1 + 3 * 2 + 2

    passed = podium.admin.get(f"/v1/experiments/{name}/pass-at-k?k=1,2,3").json()
    assert passed["without_public_scores"] == []
    one, two, three = passed["chosen_by_public"]
    assert [each["pass_at_k"] for each in (one, two, three)] == pytest.approx(
        [each["mean"] for each in passed["pass_at_k"]]
    )
    # The finals: seed 0 has the public score 0.0 without a medal, seed 1 0.4 without, 2 nothing.
    assert (three["pass_at_k"], three["chosen_by_public"]) == (0.0, 0.0)


def test_the_best_public_score_among_seeds_can_be_the_wrong_one(podium: Podium) -> None:  # noqa: F811
    folder = podium.competition()
    name = podium.experiment()
    for seed, (public, private) in enumerate([(0.5, 0.0), (0.0, 0.5), (0.3, 0.0)]):
        run = add_run(podium, name, folder.name, seed)
        run.submit(halves(folder, public=public, private=private))
    found = podium.admin.get(f"/v1/experiments/{name}/pass-at-k?k=1,2,3").json()
    one, two, three = found["chosen_by_public"]
    assert one["chosen_by_public"] == pytest.approx(200 / 3)
    # Of 3 pairs, 2 have the second run, which is chosen.
    assert two["chosen_by_public"] == pytest.approx(100 / 3)
    assert (three["pass_at_k"], three["chosen_by_public"], three["gap"]) == (100.0, 0.0, 100.0)
    text = podium.admin.get(
        f"/v1/experiments/{name}/pass-at-k?k=2", headers={"Accept": "text/markdown"}
    ).text
    assert "chosen by public score" in text
    assert "bootstrap" not in text
    assert "not known" in text  # one competition: nothing is known of others like it
    low, high = two["gap_runs95"]
    assert 0 <= low < two["gap"] < high <= 100
    assert f"| {low:.2f} to {high:.2f} | not known |" in text
    assert (one["gap_runs95"], one["gap_competitions95"]) == (None, None)
    answer = podium.admin.get(
        f"/v1/experiments/{name}/pass-at-k?k=1,2", headers={"Accept": "text/csv"}
    ).text
    header = answer.splitlines()[0].split(",")
    assert header[-8:] == [
        f"{what}_{question}95_{end}" for what in ("chosen_by_public", "gap")
        for question in ("runs", "competitions") for end in ("low", "high")
    ]  # fmt: skip
    first, second = csv.DictReader(io.StringIO(answer))
    assert (float(second["gap_runs95_low"]), float(second["gap_runs95_high"])) == (low, high)
    assert (first["gap_runs95_low"], second["gap_competitions95_low"]) == ("", "")
    text = podium.admin.get(
        f"/v1/experiments/{name}/pass-at-k?k=1", headers={"Accept": "text/markdown"}
    ).text
    assert "| nothing to choose | nothing to choose |" in text


def test_the_choice_is_marked_where_results_are_missing(podium: Podium) -> None:  # noqa: F811
    folder, without = podium.competition(), podium.competition(usage=None)
    name = misled(podium, folder)
    add_run(podium, name, without.name, 0).submit(good_submission(without))
    for one in (1, 2):
        add_run(podium, name, without.name, one)
    address = f"/v1/experiments/{name}/pass-at-k?padding=fail"
    measured, choice = choice_tables(podium, address)
    assert "[a]" in measured
    assert "[a]" not in choice  # the missing results are at the competition without public scores
    add_run(podium, name, folder.name, 3)
    _, choice = choice_tables(podium, address)
    assert choice.count("[a]") + choice.count("[b]") == 3


def choice_tables(podium: Podium, address: str) -> tuple[str, str]:  # noqa: F811
    """The last lines of both tables in Markdown: of pass@k, and of the choice beside it."""
    text = podium.admin.get(address, headers={"Accept": "text/markdown"}).text
    rows = [line for line in text.splitlines() if line.startswith("| 1 |")]
    assert len(rows) == 2, text
    return rows[0], rows[1]


def test_what_has_no_public_score_or_no_place_is_named(podium: Podium) -> None:  # noqa: F811
    without = podium.competition(usage=None)
    lines = podium.competition(
        leaderboard=None,
        toml='\n[leaderboard]\nsource = "a test"\ngold = 0.05\nsilver = 0.1\nbronze = 0.2\n'
        "median = 0.3\nteams = 100\n",
    )
    name = podium.experiment()
    for folder in (without, lines):
        run = add_run(podium, name, folder.name, 0)
        run.submit(good_submission(folder))
        run.submit(good_submission(folder, shift=0.5))
    found = ask(podium, name).json()
    assert found["unplaced"] == [lines.name]
    assert found["placed_competitions"] == 1
    text = ask(podium, name, accept="text/markdown").text
    assert f"places of submissions are not known at {lines.name}" in text
    passed = podium.admin.get(f"/v1/experiments/{name}/pass-at-k").json()
    assert passed["without_public_scores"] == [without.name]
    assert passed["chosen_by_public"][0]["competitions"] == 1
    assert len(passed["pass_at_k"]) == 1
    assert passed["competitions"] == 2


def test_imported_results_have_no_choice_to_judge(podium: Podium) -> None:  # noqa: F811
    name = podium.experiment()
    report = random_report(suites()["mle-bench-low"], random.Random(1))
    sent = podium.admin.post(f"/v1/experiments/{name}/grading-reports?seed=0", json=report)
    assert sent.status_code == 201, sent.text
    assert ask(podium, name).status_code == 409
    refused = ask(podium, name, "padding=fail")
    assert refused.status_code == 409
    assert "nothing was chosen" in refused.json()["detail"]
    passed = podium.admin.get(f"/v1/experiments/{name}/pass-at-k").json()
    assert passed["chosen_by_public"] == [] or passed["without_public_scores"]


def test_missing_runs_are_refused_or_said(podium: Podium) -> None:  # noqa: F811
    folder = podium.competition()
    name = misled(podium, folder)
    add_run(podium, name, folder.name, 3)
    assert ask(podium, name).status_code == 409
    found = ask(podium, name, "padding=fail").json()
    assert found["runs"] == 4
    assert [one["seed"] for one in found["missing"]] == [3]
    assert ask(podium, name, "padding=available").json()["runs"] == 3
    assert ask(podium, "nothing-here").status_code == 404
    assert ask(podium, name, "percentile=best").status_code == 422
