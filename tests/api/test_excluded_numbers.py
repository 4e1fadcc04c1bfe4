"""The medal and the noise of a run that a review excludes are in no answer about results."""

from __future__ import annotations

from pathlib import Path

from tests.api.conftest import Podium
from tests.api.test_results import add_run, podium  # noqa: F401
from tests.factories import good_submission

NEAR = 0.09  # the score is 0.1006, at a line of the board: some resamples win another medal


BASELINE = '[baseline]\nscore = 0.5\nsource = "starter code"\nsuccess_threshold = 0.1\n'


def test_an_excluded_run_has_no_medal_and_no_noise(podium: Podium) -> None:  # noqa: F811
    own_tiny = podium.competition(toml=BASELINE)
    name = podium.experiment()
    runs = [add_run(podium, name, own_tiny.name, seed) for seed in range(2)]
    for run in runs:
        sent = run.submit(noisy(own_tiny)).json()["id"]
        podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})
        podium.admin.get(f"/v1/submissions/{sent}/uncertainty").raise_for_status()
    why = {"decision": "exclude", "reason": "it ran on another machine"}
    podium.admin.post(f"/v1/runs/{runs[0].id}/review", json=why).raise_for_status()

    def rows(page: str, column: str, value: str) -> list[dict]:
        found = podium.admin.get(f"{page}?format=json").json()["rows"]
        return [row for row in found if row[column] == value]

    path = f"/v1/experiments/{name}"
    rates = podium.admin.get(f"{path}/medal-rates").json()
    alone = podium.admin.get(f"{path}/uncertainty").json()["rates"]
    outcomes = podium.admin.get(f"{path}/outcomes").json()["items"]
    (listed,) = rows("/", "experiment", name)
    cells = rows(f"/experiments/{name}", "competition", own_tiny.name)
    assert [(one["rate"], one["measured"], one["unmeasured"]) for one in rates["noise"]] == [
        (rate, 1, 0) for rate in ("any_medal", "gold", "silver", "bronze")
    ]
    assert rates["noise"] == alone
    assert (listed["near_lines"], [one["near_line"] for one in cells]) == (1, [False, True])
    assert [one["medal"] is None for one in outcomes] == [True, False]
    assert [one["better"] is None for one in outcomes] == [True, False]
    assert [one["score"] is None for one in cells] == [True, False]
    assert [one["better"] is None for one in cells] == [True, False]
    against_baseline = ("success", "ever_success", "best_score", "best_improvement", "scores")
    assert [outcomes[0][each] for each in against_baseline] == [None, None, None, None, 0]
    assert [outcomes[1][each] for each in against_baseline[:2]] == [True, True]
    excluded, counted = podium.admin.get(f"/v1/competitions/{own_tiny.name}/results").json()[
        "items"
    ]
    numbers = ("score", "better", "equal", "worse", "percentile", "medal", "above_median")
    assert excluded["state"] == "excluded by a review"
    assert [excluded[each] for each in numbers] == [None] * len(numbers)
    assert None not in [counted[each] for each in numbers if each != "medal"]
    page = podium.admin.get(f"/competitions/{own_tiny.name}", headers={"Accept": "text/html"}).text
    assert page.count('title="nearer to a medal line') == 1


def noisy(folder: Path) -> bytes:
    """A submission with errors of different sizes, whose score is at a line of the board."""
    header, *lines = good_submission(folder).decode().splitlines()
    rows = [line.split(",") for line in lines]
    wrong = [f"{name},{float(value) + NEAR * (1.5 if at % 4 < 2 else 0.5)!r}"
             for at, (name, value) in enumerate(rows)]  # fmt: skip
    return "\n".join([header, *wrong, ""]).encode()
