"""Success against baselines over HTTP: two invented agents whose figures are reckoned apart."""

from __future__ import annotations

import csv
import io
import itertools
import statistics
from fractions import Fraction
from pathlib import Path

import httpx
import pyarrow.parquet as pq
import pytest

from tests.api.conftest import Podium, Run
from tests.factories import good_submission
from tests.grading_reports import ROOT
from tests.server import PodiumServer

EVIDENCE = {"file": "result.csv"}
# A spreadsheet of runs: what each scored at its steps (the last is final), and what it used.
# Blank costs were not told. `error` takes submissions, the others are measured.
SHEET = """\
agent,task,seed,scores,failure,prompt_tokens,completion_tokens,steps,seconds,cost_usd
alpha,error,0,0.9 0.2,,1000,500,5,3600,0.50
alpha,error,1,0.3 0.6,,2000,500,9,1800,1.50
alpha,error,2,,no_submission,100,,2,,0.25
alpha,error,3,0.1,out_of_memory,9000,9000,99,9999,99
alpha,time,0,7 5,,3000,1000,4,600,2.00
alpha,time,1,5.5,,,,,,
alpha,score,0,0.5 0.55,,800,200,3,60,0.10
beta,error,0,0.49,,400,100,1,30,0.05
beta,time,0,6.1742,,400,100,1,30,
beta,time,1,,connection,,,,,
beta,score,0,0.44,,400,100,1,30,0.05
beta,score,1,0.45,,600,100,1,60,0.15
"""
BASELINES = {"error": "0.5", "time": "6.1742", "score": "0.4"}
UP = {"error": False, "time": False, "score": True}
COSTS = ("prompt_tokens", "completion_tokens", "steps", "seconds", "cost_usd")


def baseline(score: str) -> str:
    return f'[baseline]\nscore = {score}\nsource = "starter code"\n'


def measured(folder: Path, *, up: bool, score: str | None) -> Path:
    folder.mkdir(parents=True)
    (folder / "competition.toml").write_text(
        f"""title = "Measured"
version = 1
[metric]
name = "measure"
measured = true
higher_is_better = {str(up).lower()}
unit = "s"
harness = "a stopwatch"
"""
        + (baseline(score) if score else "")
    )
    (folder / "description.md").write_text("# Measured\n")
    return folder


def send(podium: Podium, folder: Path) -> Path:
    answer = podium.send_folder(folder)
    assert answer.status_code == 201, answer.text
    return folder


def measured_competition(podium: Podium, *, up: bool = False, score: str | None = "2") -> Path:
    folder = podium.folder()
    for file in sorted(folder.rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    folder.rmdir()
    return send(podium, measured(folder, up=up, score=score))


def add_run(podium: Podium, experiment: str, slug: str, seed: int) -> Run:
    body = {"experiment": experiment, "competition": slug, "seed": seed}
    answer = podium.admin.post("/v1/runs", json=body)
    assert answer.status_code == 201, answer.text
    return Run(answer.json()["id"], answer.json(), podium.client(answer.json()["key"]))


def report(podium: Podium, run: Run, score: float, **more: object) -> None:
    body = {"score": score, "evidence": EVIDENCE, **more}
    answer = podium.admin.post(f"/v1/runs/{run.id}/reported-scores", json=body)
    assert answer.status_code == 201, answer.text


def close(podium: Podium, run: Run, **more: object) -> None:
    body = {"state": "closed", **more}
    assert podium.admin.patch(f"/v1/runs/{run.id}", json=body).status_code == 200


def success(podium: Podium, name: str, query: str = "", accept: str = "") -> httpx.Response:
    headers = {"Accept": accept} if accept else {}
    return podium.admin.get(f"/v1/experiments/{name}/success-rates?{query}", headers=headers)


def rows() -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(SHEET)))


Agents = tuple[dict[str, Path], dict[str, str], str]


@pytest.fixture(scope="module")
def agents_of() -> dict[PodiumServer, Agents]:
    """The agents of each server: tests share them, and leave them as they were."""
    return {}


@pytest.fixture
def agents(podium: Podium, agents_of: dict[PodiumServer, Agents]) -> Agents:
    """The sheet's competitions and experiments, and a suite of these competitions and a fourth."""
    if podium.server not in agents_of:
        agents_of[podium.server] = make_agents(podium)
    return with_suite(podium, agents_of[podium.server])


@pytest.fixture
def own_agents(podium: Podium) -> Agents:
    """The same, of one test."""
    return with_suite(podium, make_agents(podium))


def make_agents(podium: Podium) -> Agents:
    error = podium.competition(toml=baseline(BASELINES["error"]), leaderboard=None)
    tasks = {
        "error": error,
        "time": measured_competition(podium, score=BASELINES["time"]),
        "score": measured_competition(podium, up=True, score=BASELINES["score"]),
    }
    names = {"alpha": podium.experiment(), "beta": podium.experiment()}
    for row in rows():
        run = add_run(podium, names[row["agent"]], tasks[row["task"]].name, int(row["seed"]))
        scores = [float(each) for each in row["scores"].split()]
        for step, score in enumerate(scores):
            if row["task"] == "error":
                made = run.submit(good_submission(error, shift=score)).json()
                assert made["grade"] is None
                assert made["state"] == "graded"
            else:
                final = step == len(scores) - 1
                report(podium, run, score, step=step, run_seconds=10.0 * step, final=final)
        usage = {c: float(row[c]) if "." in row[c] else int(row[c]) for c in COSTS if row[c]}
        close(podium, run, usage=usage, failure=row["failure"] or "none")
    return tasks, names, f"sheet-{error.name}"


def with_suite(podium: Podium, agents: Agents) -> Agents:
    """The agents, whose suite the server knows now: another test may have written other suites."""
    tasks, _, suite = agents
    slugs = [*(folder.name for folder in tasks.values()), "not-run-at"]
    listed = ", ".join(f'"{slug}"' for slug in slugs)
    (Path(podium.server.environment["PODIUM_COMPETITIONS_DIR"]) / "suites.toml").write_text(
        (ROOT / "competitions" / "suites.toml").read_text()
        + f'\n[suites.{suite}]\ntitle = "A sheet"\ncompetitions = [{listed}]\n'
    )
    return agents


class Sheet:
    """The rates as a spreadsheet computes them, in exact fractions, without Podium's functions."""

    def __init__(self, agent: str, tasks: set[str], threshold: str) -> None:
        mine = [r for r in rows() if r["agent"] == agent and r["task"] in tasks]
        self.lost = [r for r in mine if r["failure"] in ("out_of_memory", "connection")]
        self.rows = [r for r in mine if r not in self.lost]
        self.threshold = Fraction(threshold)
        self.tasks = sorted({r["task"] for r in self.rows})

    def improvement(self, row: dict[str, str], score: str) -> Fraction:
        base = Fraction(BASELINES[row["task"]])
        gain = Fraction(score) - base if UP[row["task"]] else base - Fraction(score)
        return gain / abs(base)

    def final(self, row: dict[str, str]) -> bool:
        return bool(row["scores"]) and (
            self.improvement(row, row["scores"].split()[-1]) > self.threshold
        )

    def ever(self, row: dict[str, str]) -> bool:
        return any(self.improvement(row, s) > self.threshold for s in row["scores"].split())

    def rate(self, counts) -> float:
        shares = []
        for task in self.tasks:
            of = [counts(r) for r in self.rows if r["task"] == task]
            shares.append(Fraction(sum(of), len(of)))
        return float(100 * sum(shares) / len(shares))

    def average_improvement(self) -> float:
        means = []
        for task in self.tasks:
            of = [self.improvement(r, r["scores"].split()[-1])
                  for r in self.rows if r["task"] == task and r["scores"]]  # fmt: skip
            means.append(sum(of) / len(of))
        return float(sum(means) / len(means))

    def cost(self, name: str) -> tuple[float | None, int]:
        told = [Fraction(r[name]) for r in self.rows if r[name]]
        return (float(sum(told) / len(told)) if told else None), len(told)

    def per_dollar(self) -> float:
        told = [r for r in self.rows if r["cost_usd"]]
        return float(sum(map(self.final, told)) / sum(Fraction(r["cost_usd"]) for r in told))


def test_two_agents_as_a_spreadsheet_has_them(podium: Podium, agents) -> None:
    tasks, names, suite = agents
    groups = {"all": set(tasks), **{tasks[task].name: {task} for task in tasks}}
    for threshold, (agent, name) in itertools.product(
        ("0.05", "0.1", "0.15", "0.2", "0.3"), names.items()
    ):
        query = f"suite={suite}&threshold={threshold}&group_by=competition"
        body = success(podium, name, query).json()
        assert set(body["groups"]) == set(groups)
        for group, of in groups.items():
            assert_same(body["groups"][group], Sheet(agent, of, threshold))


def assert_same(found: dict, sheet: Sheet) -> None:
    assert found["runs"] == len(sheet.rows)
    assert found["success_rate"]["mean"] == pytest.approx(sheet.rate(sheet.final))
    assert found["ever_success_rate"]["mean"] == pytest.approx(sheet.rate(sheet.ever))
    improvement = found["average_improvement"]["mean"]
    assert improvement == pytest.approx(sheet.average_improvement(), rel=1e-12)
    assert sum(found["lost"].values()) == len(sheet.lost)
    assert found["without_score"] == sum(not row["scores"] for row in sheet.rows)
    for cost in COSTS:
        average = found["efficiency"]["averages"][cost]
        mean, told = sheet.cost(cost)
        assert average["runs"] == told
        assert average["mean"] == pytest.approx(mean)
    if sheet.cost("cost_usd")[1]:
        dollars = found["efficiency"]["successes_per"]["dollar"]
        assert dollars == pytest.approx(sheet.per_dollar())


def test_what_is_in_a_number_stands_beside_it_in_every_form(podium: Podium, agents) -> None:
    tasks, names, suite = agents
    body = success(podium, names["alpha"], f"suite={suite}&threshold=0.1").json()

    assert body["results"] == {"graded": 2, "reported": 3, "imported": 0}
    assert body["lost"] == {"out_of_memory": 1}
    assert body["groups"]["all"]["without_score"] == 1
    assert body["missing"] == [{"competition": "not-run-at", "seed": None, "reason": "no run"}]
    assert body["failures"] == {"no_submission": 1, "out_of_memory": 1}
    assert (body["competitions"], body["groups"]["all"]["competitions"]) == (4, 3)
    assert {(b["competition"], b["score"]) for b in body["baselines_used"]} == {
        (tasks[task].name, float(score)) for task, score in BASELINES.items()
    }
    text = success(podium, names["alpha"], f"suite={suite}", "text/markdown").text
    assert "2 graded, 3 reported, 0 imported; failures without one: 1" in text
    assert "lost to infrastructure: 1 out_of_memory" in text
    assert "not-run-at (no run)" in text
    rate = body["groups"]["all"]["success_rate"]
    (line,) = [each for each in text.splitlines() if each.startswith("| all |")]
    assert [cell.strip() for cell in line.split("|")][5:7] == [
        ("not known" if ends is None else f"{ends[0]:.2f} to {ends[1]:.2f}") + " [a]"
        for ends in (rate["runs95"], rate["competitions95"])
    ]
    assert "- [a] 1 missing: such results are left out (padding=complete)" in text
    assert rate["competitions95"] is not None
    header = next(each for each in text.splitlines() if each.startswith("| group |"))
    assert "these competitions, run again: 95 % | competitions like these: 95 %" in header

    query = f"suite={suite}&threshold=0.1&group_by=competition"
    body = success(podium, names["alpha"], query).json()
    text = success(podium, names["alpha"], query, "text/csv").text
    lines = list(csv.DictReader(io.StringIO(text)))
    parquet = success(podium, names["alpha"], query, "application/vnd.apache.parquet").content
    kept = pq.read_table(io.BytesIO(parquet)).to_pylist()

    assert [line["group"] for line in lines] == list(body["groups"])
    for line, row in zip(lines, kept, strict=True):
        group = body["groups"][line["group"]]
        assert float(line["success_rate"]) == row["success_rate"] == group["success_rate"]["mean"]
        assert int(line["reported"]) == row["reported"] == group["results"]["reported"]
        assert row["average_improvement"] == group["average_improvement"]["mean"]
        assert row["successes_per_dollar"] == group["efficiency"]["successes_per"]["dollar"]


def test_missing_results_are_refused_padded_or_left_out(podium: Podium, own_agents) -> None:
    tasks, names, suite = own_agents
    refusal = success(podium, names["alpha"], f"suite={suite}&threshold=0.1&padding=none")
    assert refusal.status_code == 409
    assert refusal.json()["missing"] == [
        {"competition": "not-run-at", "seed": None, "reason": "no run"}
    ]
    add_run(podium, names["alpha"], tasks["error"].name, 9)
    left_out = success(podium, names["alpha"], f"suite={suite}&threshold=0.1").json()
    padded = success(podium, names["alpha"], f"suite={suite}&threshold=0.1&padding=fail").json()
    assert {"competition": tasks["error"].name, "seed": 9, "reason": "the run is open"} in (
        left_out["missing"]
    )
    # error: 1 of 3 and 1 of 4, time: 2 of 2, score: 1 of 1, not-run-at: none
    assert left_out["groups"]["all"]["success_rate"]["mean"] == pytest.approx(
        100 * statistics.fmean([1 / 3, 1, 1])
    )
    assert padded["groups"]["all"]["success_rate"]["mean"] == pytest.approx(
        100 * statistics.fmean([1 / 4, 1, 1, 0])
    )
    assert success(podium, names["alpha"], "suite=nothing").status_code == 404
    assert success(podium, "nobody").status_code == 404
    assert success(podium, podium.experiment()).status_code == 409


@pytest.mark.parametrize("threshold", ["0", "-0.1", "nan", "inf", "1001", "ten"])
def test_thresholds_that_are_none(podium: Podium, threshold: str) -> None:
    name = podium.experiment()
    assert success(podium, name, f"threshold={threshold}").status_code == 422


def test_without_a_baseline_runs_are_refused_or_left_out_by_name(podium: Podium) -> None:
    name, starter = podium.experiment(), podium.experiment()
    known, unknown = measured_competition(podium), measured_competition(podium, score=None)
    for slug in (known.name, unknown.name):
        for seed, score in enumerate((1.0, 3.0)):
            run = add_run(podium, name, slug, seed)
            report(podium, run, score)
            close(podium, run)
    refusal = success(podium, name)
    assert refusal.status_code == 409
    assert refusal.json()["missing_baseline"] == [{"competition": unknown.name, "runs": 2}]
    assert "starter=" in refusal.json()["detail"]

    some = success(podium, name, "baselines=known").json()
    assert some["missing_baseline"] == [{"competition": unknown.name, "runs": 2}]
    assert some["groups"]["all"]["success_rate"]["mean"] == 50.0
    assert "no baseline is known: " in success(
        podium, name, "baselines=known", "text/markdown"
    ).text  # fmt: skip

    for seed, score in enumerate((6.0, 2.0)):
        run = add_run(podium, starter, unknown.name, seed)
        report(podium, run, score)
        close(podium, run)
    crashed = add_run(podium, starter, unknown.name, 2)
    report(podium, crashed, 1000.0)
    close(podium, crashed, failure="out_of_memory")
    every = success(podium, name, f"starter={starter}&group_by=competition").json()
    # (6 + 2) / 2 = 4; 1.0 and 3.0 are 75 % and 25 % better
    assert every["groups"][unknown.name]["success_rate"]["mean"] == 100.0
    assert every["groups"][unknown.name]["average_improvement"]["mean"] == 0.5
    (used,) = [b for b in every["baselines_used"] if b["competition"] == unknown.name]
    assert (used["score"], used["source"]) == (
        4.0, f"mean of 2 runs of the experiment {starter}",
    )  # fmt: skip
    assert success(podium, name, "starter=nobody").status_code == 404


def test_only_open_runs_whose_scores_count_are_said_to_count(podium: Podium) -> None:
    flagged = podium.competition(
        toml=baseline("0.5") + '[[flags]]\ncode = "open_ones"\nnote = "A test."\n'
    )
    other = podium.competition(toml=baseline("0.5"))
    name = podium.experiment()
    for folder in (flagged, other):
        run = add_run(podium, name, folder.name, 0)
        report(podium, run, 0.01)
        run.submit(good_submission(folder))

    def notes(query: str) -> str:
        return success(podium, name, query, accept="text/markdown").text

    assert "- 2 runs are still open: the last score counts.\n" in notes("")
    assert "- 2 scores of another kind, not counted.\n" in notes("")
    for query in ("exclude_flags=open_ones", "exclude_flags=open_ones&excluded=fail"):
        body = success(podium, name, query).json()
        assert (body["open_runs"], body["uncounted_beside"]) == (1, 1)
        assert "- 1 run is still open: the last score counts.\n" in notes(query)
        assert "- 1 score of another kind, not counted.\n" in notes(query)


def test_a_grade_counts_before_a_report(podium: Podium) -> None:
    folder = podium.competition(toml=baseline("0.5"))
    name = podium.experiment()
    run = add_run(podium, name, folder.name, 0)
    report(podium, run, 0.01)
    body = success(podium, name).json()
    assert body["results"] == {"graded": 0, "reported": 1, "imported": 0}
    assert body["open_runs"] == 1
    run.submit(good_submission(folder, shift=0.9))
    body = success(podium, name).json()
    assert body["results"] == {"graded": 1, "reported": 0, "imported": 0}
    assert (body["uncounted_beside"], body["groups"]["all"]["success_rate"]["mean"]) == (1, 0.0)
    rates = podium.admin.get(f"/v1/experiments/{name}/medal-rates").json()
    assert rates["groups"]["all"]["any_medal"]["mean"] == 0.0


def test_flagged_competitions_are_left_out_or_fail(podium: Podium) -> None:
    flag = '[[flags]]\ncode = "noisy"\nnote = "half of its score is noise"\n'
    plain = podium.competition(toml=baseline("0.5"))
    noisy = podium.competition(toml=baseline("0.5") + flag)
    name = podium.experiment()
    for folder in (plain, noisy):
        add_run(podium, name, folder.name, 0).submit(good_submission(folder, shift=0.1))

    def rate(query: str) -> tuple[float, list[str]]:
        body = success(podium, name, query).json()
        return body["groups"]["all"]["success_rate"]["mean"], body["excluded"]

    assert rate("") == (100.0, [])
    assert rate("exclude_flags=noisy") == (100.0, [noisy.name])
    assert rate("exclude_flags=noisy&excluded=fail") == (50.0, [noisy.name])
    assert [each["code"] for each in success(podium, name).json()["flags"]] == ["noisy"]


def test_a_trajectory_of_graded_submissions(podium: Podium) -> None:
    folder = podium.competition(toml=baseline("0.5"))
    run = podium.run(folder)
    sent = [run.submit(good_submission(folder, shift=s)).json()["id"] for s in (0.6, 0.2, 0.48)]
    report(podium, run, 0.3, final=False)
    found = podium.admin.get(f"/v1/runs/{run.id}/trajectory").json()

    steps = found["items"]
    assert [s["submission"] for s in steps] == [*sent, None]
    assert [s["sort"] for s in steps] == ["graded"] * 3 + ["reported"]
    assert [s["best_so_far"] for s in steps] == pytest.approx([0.6, 0.2, 0.2, 0.3])
    assert [s["improvement"] for s in steps] == pytest.approx([-0.2, 0.6, 0.04, 0.4])
    assert [s["success"] for s in steps] == [False, True, False, True]
    times = [s["run_seconds"] for s in steps[:3]]
    assert times == sorted(times)
    assert (found["sort"], found["success"], found["ever_success"]) == ("graded", False, True)
    assert found["final"]["submission"] == sent[2]
    assert found["best"] == found["first_success"] == steps[1]
    lower = podium.admin.get(f"/v1/runs/{run.id}/trajectory?threshold=0.03").json()
    assert (lower["success"], lower["threshold"]) == (True, 0.03)
    run.client.put(f"/v1/runs/{run.id}/selected", json={"submission": sent[1]})
    chosen = podium.admin.get(f"/v1/runs/{run.id}/trajectory").json()
    assert (chosen["final"]["submission"], chosen["success"]) == (sent[1], True)
    text = podium.admin.get(f"/v1/runs/{run.id}/trajectory", headers={"Accept": "text/csv"}).text
    assert len(list(csv.DictReader(io.StringIO(text)))) == 4


def test_a_trajectory_of_measured_scores_is_by_step(podium: Podium) -> None:
    run = podium.run(measured_competition(podium, up=True))
    empty = podium.admin.get(f"/v1/runs/{run.id}/trajectory").json()
    assert (empty["items"], empty["final"], empty["success"]) == ([], None, None)
    assert empty["pending"] == "the run is open"
    report(podium, run, 2.5, step=9)
    report(podium, run, 3.0, step=4, final=False)
    report(podium, run, 1.0, step=0, final=False)
    found = podium.admin.get(f"/v1/runs/{run.id}/trajectory").json()

    assert [s["step"] for s in found["items"]] == [0, 4, 9]
    assert [s["best_so_far"] for s in found["items"]] == [1.0, 3.0, 3.0]
    assert (found["final"]["step"], found["best"]["step"]) == (9, 4)
    assert found["first_success"]["step"] == 4
    assert podium.admin.get("/v1/runs/run_none/trajectory").status_code == 404


def test_what_each_run_came_to(podium: Podium, agents) -> None:
    tasks, names, _ = agents
    found = podium.admin.get(f"/v1/experiments/{names['alpha']}/outcomes?threshold=0.1").json()
    by = {(each["competition"], each["seed"]): each for each in found["items"]}
    error, time = tasks["error"].name, tasks["time"].name

    assert by[error, 1]["score"] == pytest.approx(0.6)
    assert by[error, 1]["best_score"] == pytest.approx(0.3)
    assert (by[error, 1]["success"], by[error, 1]["ever_success"]) == (False, True)
    assert (by[error, 1]["sort"], by[error, 1]["scores"]) == ("graded", 2)
    assert (by[error, 2]["standing"], by[error, 2]["sort"]) == ("counted", None)
    assert (by[error, 3]["standing"], by[error, 3]["failure"]) == ("lost", "out_of_memory")
    assert (by[time, 0]["sort"], by[time, 0]["tokens"]) == ("reported", 4000.0)
    assert by[time, 1]["tokens"] is None
    text = podium.admin.get(
        f"/v1/experiments/{names['alpha']}/outcomes", headers={"Accept": "text/markdown"}
    ).text
    assert text.count("\n") == 2 + 7


def test_success_is_for_researchers(podium: Podium) -> None:
    run = podium.run(measured_competition(podium), feedback="full")
    name = run.document["experiment"]
    for path in (f"/v1/experiments/{name}/success-rates", f"/v1/experiments/{name}/outcomes",
                 f"/v1/runs/{run.id}/trajectory"):  # fmt: skip
        assert run.client.get(path).status_code == 403, path


def test_scores_far_off_have_the_same_finite_improvement_everywhere(podium: Podium) -> None:
    folder = podium.competition(
        metric="mean_absolute_error", toml=baseline("0.5"), leaderboard=None
    )
    name = podium.experiment()
    header, *rows = good_submission(folder).decode().splitlines()
    far = "\n".join([header, *(row.split(",")[0] + ",1.7e308" for row in rows)]).encode()
    for seed in range(2):
        body = {"experiment": name, "competition": folder.name, "seed": seed}
        made = podium.admin.post("/v1/runs", json=body).json()
        run = Run(made["id"], made, podium.client(made["key"]))
        assert run.submit(far).status_code == 201
        closed = podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})
        assert closed.status_code == 200, closed.text

    found = success(podium, name).json()["groups"]["all"]["average_improvement"]
    assert found["mean"] == found["median"] == -1.7976931348623157e308
    (row,) = csv.DictReader(io.StringIO(success(podium, name, accept="text/csv").text))
    assert float(row["average_improvement"]) == found["mean"]
    assert "-1.798e+310 %" in success(podium, name, accept="text/markdown").text
    assert success(podium, name, f"starter={name}").status_code == 200  # their mean is a number too


def test_a_threshold_whose_percent_is_no_double_is_written_out(podium: Podium) -> None:
    toml = baseline("0.5") + "\nsuccess_threshold = 1.7e308\n"
    folder = podium.competition(metric="mean_absolute_error", toml=toml, leaderboard=None)
    name = podium.experiment()
    body = {"experiment": name, "competition": folder.name, "seed": 0}
    made = podium.admin.post("/v1/runs", json=body).json()
    run = Run(made["id"], made, podium.client(made["key"]))
    assert run.submit(good_submission(folder)).status_code == 201
    assert podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"}).status_code == 200

    text = success(podium, name, accept="text/markdown").text
    assert "more than 1.70000e+310 %" in text
    assert "inf %" not in text
