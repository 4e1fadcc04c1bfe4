"""Every answer says what its numbers leave out: flagged and archived competitions, and times."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from tests.api.conftest import Podium
from tests.api.test_regrades import apply, regrade
from tests.api.test_results import add_run, close, podium  # noqa: F401
from tests.api.test_sensitivity import FLAG
from tests.factories import good_submission, write_competition
from tests.grading_reports import random_report, suites
from tests.server import PodiumServer

ANSWERS = (
    "/v1/experiments/{0}/medals-over-time?", "/v1/experiments/{0}/medal-rates?",
    "/v1/experiments/{0}/selection?", "/v1/experiments/{0}/sensitivity?",
    "/v1/experiments/{0}/pass-at-k?", "/v1/experiments/{0}/scores?",
    "/v1/compare?a={0}&b={1}&", "/v1/compare?experiments={0},{1}&",
    "/v1/plan?experiments={0},{1}&seeds=2&", "/v1/medal-rates?experiments={0},{1}&",
)  # fmt: skip


def text_of(podium: Podium, path: str) -> str:  # noqa: F811
    found = podium.admin.get(path, headers={"Accept": "text/markdown"})
    assert found.status_code == 200, found.text
    return found.text


def rows_of(podium: Podium, path: str) -> list[dict[str, str]]:  # noqa: F811
    found = podium.admin.get(path, headers={"Accept": "text/csv"})
    assert found.status_code == 200, found.text
    return list(csv.DictReader(io.StringIO(found.text)))


def basis(document: dict) -> list[dict]:
    """The contexts of an answer."""
    several = document.get("basis") or document.get("items") or []
    pair = [document[name] for name in ("a", "b") if name in document]
    return [*several, *pair] or [document]


Pair = tuple[list[str], list[str]]


@pytest.fixture(scope="module")
def pairs() -> dict[PodiumServer, Pair]:
    """The pair of each server: tests share it, and leave it as it was."""
    return {}


@pytest.fixture
def pair(podium: Podium, pairs: dict[PodiumServer, Pair]) -> Pair:  # noqa: F811
    """Two experiments with two seeds at three competitions, the first flagged; the slugs."""
    if podium.server not in pairs:
        pairs[podium.server] = make_pair(podium)
    return pairs[podium.server]


@contextmanager
def archived(podium: Podium, slug: str) -> Iterator[None]:  # noqa: F811
    """The competition is archived meanwhile."""
    place = f"/v1/competitions/{slug}"
    assert podium.admin.post(f"{place}/archive", json={"reason": "leaked"}).status_code == 200
    try:
        yield
    finally:
        restored = podium.admin.post(f"{place}/restore", json={"reason": "not leaked"})
        assert restored.status_code == 200


def make_pair(podium: Podium) -> Pair:  # noqa: F811
    folders = [podium.competition(toml=FLAG.format("leaky")), podium.competition(),
               podium.competition()]  # fmt: skip
    names = [podium.experiment(), podium.experiment()]
    for name in names:
        for folder in folders:
            for seed in range(2):
                run = add_run(podium, name, folder.name, seed)
                run.submit(good_submission(folder, shift=0.1 * seed))
                run.submit(good_submission(folder))
                close(podium, run)
    return names, [folder.name for folder in folders]


@pytest.mark.parametrize("path", ANSWERS)
def test_answers_name_flagged_competitions_that_they_exclude(
    podium: Podium, pair: Pair, path: str  # noqa: F811
) -> None:  # fmt: skip
    names, slugs = pair
    path = path.format(*names)
    for how, words in {"drop": "left out", "fail": "counted as failures"}.items():
        query = f"{path}exclude_flags=leaky&excluded={how}"
        assert f"Flagged leaky, {words}: {slugs[0]}." in text_of(podium, query)
        for each in basis(podium.admin.get(query).json()):
            assert (each["excluded"], each["excluded_as"]) == ([slugs[0]], how)
            assert each["exposure"]["policies"]
        (excluded,) = {
            row.get("excluded") or row.get("a_excluded") for row in rows_of(podium, query)
        }
        assert excluded == slugs[0]


@pytest.mark.parametrize("path", ANSWERS)
def test_answers_name_archived_competitions_that_they_leave_out(
    podium: Podium, pair: Pair, path: str  # noqa: F811
) -> None:  # fmt: skip
    names, slugs = pair
    path = path.format(*names)
    note = f"Left out because they are archived: {slugs[1]}."
    before = [one["archived_competitions"] for one in basis(podium.admin.get(path).json())]
    assert not any(before)
    assert note not in text_of(podium, path)

    with archived(podium, slugs[1]):
        for each in basis(podium.admin.get(path).json()):
            assert each["archived_competitions"] == [slugs[1]]
            assert each["competitions"] == 2
        assert note in text_of(podium, path)
        row = rows_of(podium, path)[0]
        assert slugs[1] in (row.get("archived_competitions"), row.get("a_archived_competitions"))
        for each in basis(podium.admin.get(f"{path}archived=true").json()):
            assert (each["archived_competitions"], each["competitions"]) == ([], 3)


def test_an_archived_competition_of_a_suite_is_named(
    podium: Podium, pair: Pair  # noqa: F811
) -> None:  # fmt: skip
    names, slugs = pair
    file = Path(podium.server.environment["PODIUM_COMPETITIONS_DIR"]) / "suites.toml"
    file.write_text(file.read_text() + f"\n[suites.mine]\ntitle = 'M'\ncompetitions = {slugs}\n")
    before = datetime.now(UTC)
    path = f"/v1/experiments/{names[0]}/medal-rates?suite=mine"

    with archived(podium, slugs[2]):
        found = podium.admin.get(path).json()
        assert (found["archived_competitions"], found["competitions"]) == ([slugs[2]], 2)
        assert f"Left out because they are archived: {slugs[2]}." in text_of(podium, path)
        then = podium.admin.get(path, params={"suite": "mine", "as_of": before.isoformat()}).json()
        assert (then["archived_competitions"], then["competitions"]) == ([], 3)
        items = podium.admin.get("/v1/suites/mine/items").json()
        assert items["archived_competitions"] == [slugs[2]]
        board = podium.admin.get("/v1/medal-rates?suite=mine").json()["items"]
        assert [one["archived_competitions"] for one in board] == [[slugs[2]]] * 2


def test_an_experiment_at_an_archived_competition_only_is_told_why_it_has_no_result(
    podium: Podium, pair: Pair  # noqa: F811
) -> None:  # fmt: skip
    names, _ = pair
    folder, only = podium.competition(), podium.experiment()
    run = add_run(podium, only, folder.name, 0)
    run.submit(good_submission(folder))
    close(podium, run)
    podium.admin.post(f"/v1/competitions/{folder.name}/archive", json={"reason": "leaked"})

    why = f"Left out because archived: {folder.name}. Ask with archived=true to count it."
    refused = podium.admin.get(f"/v1/experiments/{only}/medal-rates")
    assert refused.status_code == 409
    assert refused.json()["detail"].endswith(why)
    path = f"/v1/medal-rates?experiments={names[0]},{only}"
    board = podium.admin.get(path).json()
    assert [(one["experiment"], one["reason"].endswith(why)) for one in board["absent"]] == [
        (only, True)
    ]
    rows = rows_of(podium, path)
    assert {row["experiment"] for row in rows if not row["not_counted"]} == {names[0]}
    (last,) = [row for row in rows if row["not_counted"]]
    assert rows[-1] == last
    assert (last["experiment"], last["mean"]) == (only, "")
    assert last["not_counted"].endswith(why)
    assert podium.admin.get(f"/v1/experiments/{only}/medal-rates?archived=true").status_code == 200


def test_success_rates_name_archived_competitions(podium: Podium) -> None:  # noqa: F811
    stated = '[baseline]\nscore = 0.5\nsource = "starter code"\n'
    folders = [podium.competition(toml=stated) for _ in range(2)]
    name = podium.experiment()
    for folder in folders:
        run = add_run(podium, name, folder.name, 0)
        run.submit(good_submission(folder))
        close(podium, run)
    hidden = folders[1].name
    podium.admin.post(f"/v1/competitions/{hidden}/archive", json={"reason": "leaked"})

    path = f"/v1/experiments/{name}/success-rates?"
    found = podium.admin.get(path).json()
    assert (found["archived_competitions"], found["competitions"]) == ([hidden], 1)
    assert f"Left out because they are archived: {hidden}." in text_of(podium, path)
    assert rows_of(podium, path)[0]["archived_competitions"] == hidden
    assert podium.admin.get(f"{path}archived=true").json()["archived_competitions"] == []


def test_curves_say_that_imported_results_have_no_times(podium: Podium) -> None:  # noqa: F811
    suite = suites()["mle-bench-dev"]
    name = podium.experiment()
    report = random_report(suite, random.Random(1))
    podium.admin.post(f"/v1/experiments/{name}/grading-reports?seed=0", json=report)

    text = text_of(
        podium, f"/v1/experiments/{name}/medals-over-time?suite=mle-bench-dev&padding=fail"
    )

    reason = "its result was imported, without times"
    assert f"Why results are missing: {len(suite)} × {reason}." in text
    assert "Every result is missing, so nothing here is measured." in text


@pytest.mark.parametrize("path", [path for path in ANSWERS if "{1}" in path])
def test_what_experiments_have_in_common_stands_once(
    podium: Podium, pair: Pair, path: str  # noqa: F811
) -> None:  # fmt: skip
    names, slugs = pair
    now = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=1)
    there = quote(now.astimezone(timezone(timedelta(hours=2))).isoformat())

    text = text_of(podium, f"{path.format(*names)}as_of={there}")

    assert text.count(f"Flag leaky: {slugs[0]}.") == 1
    assert text.count("As it was on ") == 1
    assert f"As it was on {now:%Y-%m-%d %H:%M:%S} UTC." in text


def test_a_grade_of_a_version_without_a_board_is_not_counted_as_no_medal(podium: Podium) -> None:  # noqa: F811
    name, folder = podium.experiment(), podium.competition(leaderboard=None)
    run = add_run(podium, name, folder.name, 0)
    run.submit(good_submission(folder))
    write_competition(folder)  # the same, with a board
    assert podium.send_folder(folder).status_code == 201

    def rates() -> list[httpx.Response]:
        own = f"/v1/experiments/{name}/"
        paths = (
            own + "medal-rates",
            own + "medals-over-time",
            f"/v1/medal-rates?experiments={name}",
        )
        return [podium.admin.get(path) for path in paths]

    for _ in range(2):  # the run is open, then closed
        alone, over_time, board = rates()
        assert (alone.status_code, over_time.status_code) == (409, 409)
        assert alone.json()["no_leaderboard"] == [folder.name]
        assert "version without a human leaderboard" in alone.json()["detail"]
        assert [one["experiment"] for one in board.json()["absent"]] == [name]
        close(podium, run)
    apply(podium, regrade(podium, folder, version=2))
    for found in rates():
        assert found.status_code == 200, found.text
    assert rates()[0].json()["groups"]["all"]["gold"]["mean"] == 100.0


def test_an_excluded_grade_of_a_version_without_a_board_is_not_counted_as_no_medal(
    podium: Podium,  # noqa: F811
) -> None:
    name, folder = podium.experiment(), podium.competition(leaderboard=None)
    early = add_run(podium, name, folder.name, 0)
    early.submit(good_submission(folder))
    close(podium, early)
    write_competition(folder)
    assert podium.send_folder(folder).status_code == 201
    late = add_run(podium, name, folder.name, 1)
    late.submit(good_submission(folder))
    close(podium, late)
    why = {"decision": "exclude", "reason": "a leak"}
    assert podium.admin.post(f"/v1/runs/{early.id}/review", json=why).status_code == 200
    path = f"/v1/experiments/{name}/medal-rates"

    applied, ignored = (
        podium.admin.get(path, params={"reviews": how}) for how in ("apply", "ignore")
    )
    board = podium.admin.get(f"/v1/medal-rates?experiments={name}&reviews=ignore").json()

    assert applied.json()["groups"]["all"]["gold"]["mean"] == 100.0
    assert len(applied.json()["excluded_runs"]) == 1
    assert applied.json()["with_excluded"] is None  # its medals are not known
    assert (ignored.status_code, ignored.json().get("no_leaderboard")) == (409, [folder.name])
    assert [one["experiment"] for one in board["absent"]] == [name]


def test_flags_of_a_past_time_can_be_excluded(podium: Podium) -> None:  # noqa: F811
    name, folder = podium.experiment(), podium.competition(toml=FLAG.format("once_leaky"))
    run = add_run(podium, name, folder.name, 0)
    run.submit(good_submission(folder))
    close(podium, run)
    moment = quote(datetime.now(UTC).isoformat())
    write_competition(folder)  # without the flag
    assert podium.send_folder(folder).status_code == 201
    own = f"/v1/experiments/{name}/"

    then = podium.admin.get(f"{own}sensitivity?as_of={moment}")
    counted = podium.admin.get(
        f"{own}medal-rates?as_of={moment}&exclude_flags=once_leaky&excluded=fail"
    )
    now = podium.admin.get(f"{own}medal-rates?exclude_flags=once_leaky")

    assert then.status_code == 200, then.text
    assert "once_leaky" in [one["name"] for one in then.json()["variants"]]
    assert counted.json()["groups"]["all"]["gold"]["mean"] == 0.0
    assert now.status_code == 422


def test_only_open_runs_that_count_are_said_to_count(podium: Podium) -> None:  # noqa: F811
    first, second = podium.competition(toml=FLAG.format("open_ones")), podium.competition()
    names = [podium.experiment(), podium.experiment()]
    for name, folder, seed, is_open in (
        (names[0], first, 0, True), (names[0], second, 0, False), (names[0], second, 1, True),
        (names[1], second, 0, False),
    ):  # fmt: skip
        run = add_run(podium, name, folder.name, seed)
        run.submit(good_submission(folder))
        if not is_open:
            close(podium, run)
    path = f"/v1/experiments/{names[0]}/medal-rates"

    def open_runs(query: str) -> int:
        found = podium.admin.get(f"{path}?{query}")
        assert found.status_code == 200, found.text
        return found.json()["open_runs"]

    assert open_runs("padding=available") == 2
    assert open_runs("padding=fail") == 2
    assert open_runs("padding=complete") == 1  # of seed 0 alone
    assert open_runs("padding=available&exclude_flags=open_ones") == 1
    assert open_runs("padding=fail&exclude_flags=open_ones&excluded=fail") == 1
    address = f"/v1/compare?a={names[0]}&b={names[1]}&padding=fail"
    pair = podium.admin.get(address).json()
    assert (pair["a"]["open_runs"], pair["b"]["open_runs"]) == (1, 0)
    assert "1 run is still open: its last valid submission counts." in text_of(podium, address)

    listed = podium.admin.get(f"/v1/runs?experiment={names[0]}").json()["items"]
    (last,) = [run["id"] for run in listed if (run["competition"], run["seed"]) == (second.name, 1)]
    body = {"decision": "exclude", "reason": "it copied"}
    assert podium.admin.post(f"/v1/runs/{last}/review", json=body).status_code == 200
    assert open_runs("padding=fail") == 1
    assert open_runs("padding=fail&reviews=ignore") == 2
    board = f"/v1/medal-rates?experiments={names[0]},{names[1]}&padding=fail"
    items = {one["experiment"]: one["open_runs"] for one in podium.admin.get(board).json()["items"]}
    assert items == {names[0]: 0, names[1]: 0}


def test_notes_have_the_number_of_one_thing(podium: Podium) -> None:  # noqa: F811
    folder = podium.competition()
    names = [podium.experiment(), podium.experiment()]
    for name in names:
        for seed in range(2):
            run = add_run(podium, name, folder.name, seed)
            run.submit(good_submission(folder))
            run.submit(good_submission(folder, shift=0.1))
            usage = {"seconds": 60.0, "cost_usd": 1.0} if seed else {}
            body = {"state": "closed", "usage": usage}
            assert podium.admin.patch(f"/v1/runs/{run.id}", json=body).status_code == 200
    path = f"/v1/experiments/{names[0]}"

    assert "- Over the same 1 competition.\n" in text_of(
        podium, f"/v1/compare?experiments={names[0]},{names[1]}"
    )
    assert "beside it is over the same 1 competition.\n" in text_of(podium, f"{path}/pass-at-k?k=1")
    curves = text_of(podium, f"{path}/medals-over-time?axis=dollars")
    assert "- 1 run is left out, with no dollars reported.\n" in curves
    assert "over 2 runs at 1 competition. " in text_of(podium, f"{path}/selection")
