"""podium-mlebench in an environment of its own: what harnesses call, and what they read."""

from __future__ import annotations

import json
import os
import re
import site
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.api.test_faults import FAILS_AT_4321, failing_file
from tests.api.test_grade import BAD_FILES, FIELDS
from tests.clients.conftest import ROOT, Environment, ServerAway
from tests.factories import good_submission

# As inspect_evals runs it in its sandbox, from the description of its scorer.
INSPECT = """
import json, sys
from pathlib import Path
from mlebench.grade import grade_csv
from mlebench.registry import registry
new_registry = registry.set_data_dir(Path("/nowhere"))
competition = new_registry.get_competition(sys.argv[2])
report = grade_csv(Path(sys.argv[1]), competition)
print(json.dumps(report.to_dict()))
"""
# The objects that aira-dojo walks at every step of its search, in its order.
AIRA_DOJO = """
import json, sys
from datetime import datetime
from pathlib import Path
from mlebench.data import get_leaderboard, is_dataset_prepared
from mlebench.grade import validate_submission
from mlebench.grade_helpers import CompetitionReport
from mlebench.registry import registry
from mlebench.utils import load_answers, read_csv
file, slug = Path(sys.argv[1]), sys.argv[2]
c = registry.set_data_dir(Path("/nowhere")).get_competition(slug)
assert is_dataset_prepared(c, grading_only=True)
valid, words = validate_submission(file, c)
df, answers = read_csv(file), load_answers(c.answers)
score = c.grader(df, answers)
lb = get_leaderboard(c)
ranks, lower = c.grader.rank_score(score, lb), c.grader.is_lower_better(lb)
report = CompetitionReport(
    competition_id=c.id, score=score, gold_threshold=ranks["gold_threshold"],
    silver_threshold=ranks["silver_threshold"], bronze_threshold=ranks["bronze_threshold"],
    median_threshold=ranks["median_threshold"],
    any_medal=ranks["gold_medal"] or ranks["silver_medal"] or ranks["bronze_medal"],
    gold_medal=ranks["gold_medal"], silver_medal=ranks["silver_medal"],
    bronze_medal=ranks["bronze_medal"], above_median=ranks["above_median"],
    submission_exists=True, valid_submission=score is not None, is_lower_better=lower,
    created_at=datetime.now(), submission_path=str(file),
)
changed = df.copy()
changed["target"] = changed["target"] + 1
print(json.dumps([valid, words, report.to_dict(), c.grader(changed, answers),
                  c.grader.rank_score(-1e9 if lower else 1e9, lb)]))
"""


@pytest.fixture
def file(tmp_path: Path, good: bytes) -> str:
    path = tmp_path / "submission.csv"
    path.write_bytes(good)
    return str(path)


def extract_json(text: str) -> dict[str, object]:
    """The way in which RD-Agent finds the report: the first thing in braces."""
    found = re.search(r"\{.*\}", text, re.DOTALL)
    assert found is not None, text
    document: dict[str, object] = json.loads(found[0])
    return document


def test_rd_agent_finds_the_report_on_standard_error(harness, tiny, file):  # type: ignore[no-untyped-def]
    done = harness.run("mlebench", "grade-sample", file, tiny.name, "--data-dir", "/nowhere")

    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert re.search(r"^\[.*\] \[cli\.py:\d+\] Competition report:$", done.stderr, re.MULTILINE)
    report = extract_json(done.stderr)
    assert list(report) == FIELDS
    assert report["score"] == pytest.approx(0.12)
    assert report["valid_submission"] is True
    assert report["submission_path"] == file


def test_none_gives_the_lines(harness, podium, tiny):  # type: ignore[no-untyped-def]
    report = extract_json(harness.run("mlebench", "grade-sample", "None", tiny.name).stderr)

    lines = podium.admin.get(f"/v1/competitions/{tiny.name}").json()["medals"]
    assert report["gold_threshold"] == lines["gold"]
    assert report["submission_exists"] is report["valid_submission"] is False
    assert report["score"] is None


@pytest.mark.parametrize("code", BAD_FILES)
def test_a_bad_file_is_a_report_with_a_warning(harness, tiny, tmp_path, code):  # type: ignore[no-untyped-def]
    path = tmp_path / "submission.csv"
    path.write_bytes(BAD_FILES[code])

    done = harness.run("mlebench", "grade-sample", str(path), tiny.name)

    assert done.returncode == 0, done.stderr
    assert "Invalid submission: " in done.stderr
    report = extract_json(done.stderr)
    assert report["submission_exists"] is True
    assert report["valid_submission"] is report["any_medal"] is False


def test_inspect_evals_reads_standard_output(harness, podium, experiment, tiny, file):  # type: ignore[no-untyped-def]
    done = harness.python("-c", INSPECT, file, tiny.name)
    again = harness.python("-c", INSPECT, file, tiny.name)

    assert done.returncode == 0, done.stderr
    assert list(json.loads(done.stdout)) == FIELDS
    assert json.loads(again.stdout)["score"] == json.loads(done.stdout)["score"]
    (run,) = podium.admin.get("/v1/runs", params={"experiment": experiment}).json()["items"]
    assert run["submissions"] == {"graded": 1}


def test_aira_dojo_walks_its_objects(harness, podium, tiny, file):  # type: ignore[no-untyped-def]
    libraries = site.getsitepackages()[0]  # only pandas is used of it
    done = harness.python("-c", AIRA_DOJO, file, tiny.name, PYTHONPATH=libraries)

    assert done.returncode == 0, done.stderr
    valid, words, report, changed, best = json.loads(done.stdout)
    assert (valid, words) == (True, "Submission is valid.")
    assert list(report) == FIELDS
    assert report["score"] == pytest.approx(0.12)
    assert report["valid_submission"] is True
    lines = podium.admin.get(f"/v1/competitions/{tiny.name}").json()["medals"]
    assert report["gold_medal"] == (report["score"] <= lines["gold"])
    assert report["any_medal"] == any(
        report[f"{medal}_medal"] for medal in ("gold", "silver", "bronze")
    )
    assert changed != report["score"]  # a frame that was changed is not graded as its file
    assert (best["gold_medal"], best["silver_medal"], best["above_median"]) == (True, False, True)


# aira-dojo's own module, from a checkout; it is loaded by its path, with the shim as its mlebench.
AIRA_DOJO_ITSELF = """
import importlib.util, json, sys
from pathlib import Path
path, file, slug, out = sys.argv[1:]
spec = importlib.util.spec_from_file_location("evaluate", path)
evaluate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(evaluate)
score, report = evaluate.evaluate_submission(Path(file), Path("/nowhere"), slug, Path(out))
print(json.dumps([score, report]))
"""
DOJO = "PODIUM_TEST_AIRA_DOJO"


def test_aira_dojos_own_module_grades_unmodified(harness, tiny, file, tmp_path):  # type: ignore[no-untyped-def]
    checkout = os.environ.get(DOJO)
    if checkout is None:
        pytest.skip(f"NOT TESTED with aira-dojo itself: set {DOJO} to a checkout")
    module = Path(checkout) / "src/dojo/tasks/mlebench/evaluate.py"
    bad = tmp_path / "bad.csv"
    bad.write_bytes(BAD_FILES["missing_id"])

    def evaluated(path: str) -> subprocess.CompletedProcess[str]:
        done: subprocess.CompletedProcess[str] = harness.python(
            "-c", AIRA_DOJO_ITSELF, str(module), path, tiny.name,
            str(tmp_path / "out"), PYTHONPATH=site.getsitepackages()[0],
        )  # fmt: skip
        return done

    good = evaluated(file)
    assert good.returncode == 0, good.stderr
    score, report = json.loads(good.stdout)
    assert score == report["score"] == pytest.approx(0.12)
    assert list(report) == FIELDS
    written = json.loads((tmp_path / "out" / "grading_report.json").read_text())
    assert written["score"] == report["score"]
    for path, exists in ((bad, True), (tmp_path / "no-such-file.csv", False)):
        done = evaluated(str(path))
        assert done.returncode == 0, done.stderr
        score, report = json.loads(done.stdout)
        assert score is report["score"] is None
        assert report["submission_exists"] is exists
        assert report["valid_submission"] is report["any_medal"] is False


def test_a_list_of_files_gives_a_grading_report(harness, podium, tiny, file, tmp_path):  # type: ignore[no-untyped-def]
    lines = [{"competition_id": tiny.name, "submission_path": path} for path in (file, "None")]
    (tmp_path / "all.jsonl").write_text("\n".join(map(json.dumps, lines)))

    done = harness.run(
        "mlebench", "grade", "--submission", str(tmp_path / "all.jsonl"), "--output-dir",
        str(tmp_path / "out"),
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    (written,) = (tmp_path / "out").glob("*_grading_report.json")
    report = json.loads(written.read_text())
    assert (report["total_runs"], report["total_valid_submissions"]) == (2, 1)
    name = podium.experiment()
    sent = podium.admin.post(
        f"/v1/experiments/{name}/grading-reports?seed=0&repeats=seeds", content=written.read_bytes()
    )
    assert sent.status_code == 201, sent.text
    assert sent.json()["mismatches"] == []


@pytest.mark.parametrize(
    ("line", "place", "words"),
    [
        ('{"competition_id": "x"}', "out", "document 2 has no submission_path"),
        ("[1]", "out", "document 2 has no competition_id"),
        ("submission.csv", "out", "all.jsonl: line 2 is not JSON: Expecting value"),
        ("\udcff", "out", "all.jsonl is not text in UTF-8: "),
        ("", "all.jsonl", "all.jsonl"),
    ],
)
def test_a_list_or_place_that_cannot_be_used_is_told_before_a_file_is_graded(  # type: ignore[no-untyped-def]
    harness, podium, experiment, tiny, file, tmp_path, line, place, words
):
    first = json.dumps({"competition_id": tiny.name, "submission_path": str(file)})
    (tmp_path / "all.jsonl").write_text(f"{first}\n{line}\n", errors="surrogateescape")

    done = harness.run(
        "mlebench", "grade", "--submission", str(tmp_path / "all.jsonl"), "--output-dir",
        str(tmp_path / place),
    )  # fmt: skip

    assert done.returncode == 1
    assert done.stderr.startswith("mlebench: ")
    assert words in done.stderr
    assert podium.admin.get(f"/v1/runs?experiment={experiment}").json()["items"] == []


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"PODIUM_KEY": "pod_harness_wrong"}, "answered 401"),
        ({"PODIUM_KEY": ""}, "Set PODIUM_KEY"),
        ({"PODIUM_URL": ""}, "Set PODIUM_URL"),
        ({"PODIUM_SEED": "one"}, "are numbers"),
        ({"PODIUM_URL": "http://127.0.0.1:9", "PODIUM_WAIT_SECONDS": "1"}, "is away"),
    ],
)
def test_a_fault_that_is_not_the_files_gives_no_report(  # type: ignore[no-untyped-def]
    harness, tiny, file, variables, words
):
    done = harness.run("mlebench", "grade-sample", file, tiny.name, **variables)

    assert done.returncode == 1
    assert words in done.stderr
    assert "{" not in done.stderr
    assert "Traceback" not in done.stderr


def test_the_key_of_another_experiment_makes_runs_there_alone(  # type: ignore[no-untyped-def]
    harness, podium, experiment, tiny, file
):
    other = podium.experiment()
    key = podium.harness_key(other)

    there = harness.run("mlebench", "grade-sample", file, tiny.name, PODIUM_KEY=key)
    here = harness.run(
        "mlebench", "grade-sample", file, tiny.name, PODIUM_KEY=key, PODIUM_EXPERIMENT=experiment
    )

    assert there.returncode == 0
    assert (here.returncode, "answered 404" in here.stderr) == (1, True)
    assert podium.admin.get("/v1/runs", params={"experiment": experiment}).json()["items"] == []


def test_a_fault_of_the_competition_is_no_report(harness, podium, tmp_path):  # type: ignore[no-untyped-def]
    folder = podium.competition(metric_py=FAILS_AT_4321)
    path = tmp_path / "submission.csv"
    path.write_bytes(failing_file(folder))

    done = harness.run("mlebench", "grade-sample", str(path), folder.name)

    assert done.returncode == 1
    assert "answered 500" in done.stderr
    assert "{" not in done.stderr


@pytest.mark.parametrize("command", [["prepare", "-c", "spaceship-titanic"], ["dev", "x"]])
def test_what_it_cannot_do_is_refused_in_a_sentence(harness, command):  # type: ignore[no-untyped-def]
    done = harness.run("mlebench", *command)

    assert done.returncode == 1
    assert done.stderr.startswith("mlebench: podium-mlebench ")
    assert done.stderr.count("\n") == 1


def test_the_registry_has_mle_benchs_competitions(mlebench: Environment) -> None:
    ask = (
        "import json; from mlebench.registry import registry as r;"
        "print(json.dumps([r.list_competition_ids(), r.get_lite_competition_ids()]))"
    )
    everything, lite = json.loads(mlebench.python("-c", ask).stdout)

    suites = tomllib.loads((ROOT / "competitions" / "suites.toml").read_text())["suites"]
    assert everything == suites["mle-bench"]["competitions"]
    assert lite == suites["mle-bench-low"]["competitions"]


def test_a_server_that_is_away_for_ten_seconds_is_waited_for(
    mlebench: Environment, server_away: ServerAway
) -> None:
    with server_away.comes_back_after(10):
        done = mlebench.run(
            "mlebench", "grade-sample", str(server_away.file), server_away.competition,
            PODIUM_URL=server_away.server.url, PODIUM_KEY=server_away.key,
            PODIUM_WAIT_SECONDS="100", NO_PROXY="*",
        )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert extract_json(done.stderr)["score"] == pytest.approx(0.12)
    assert server_away.server.stop() == 0


def test_a_server_killed_in_the_middle_doubles_no_attempt(
    mlebench: Environment, server_away: ServerAway, tmp_path: Path
) -> None:
    server, slug = server_away.server, server_away.competition
    lines = []
    for number in range(60):
        path = tmp_path / f"{number}.csv"
        path.write_bytes(good_submission(server_away.file.parent / slug, shift=0.01 * (number + 1)))
        lines.append({"competition_id": slug, "submission_path": str(path)})
    (tmp_path / "all.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with server_away.comes_back_after(0, 1, 20):
        done = mlebench.run(
            "mlebench", "grade", "--submission", str(tmp_path / "all.jsonl"), "--output-dir",
            str(tmp_path / "out"), PODIUM_URL=server.url, PODIUM_KEY=server_away.key,
            PODIUM_WAIT_SECONDS="100", NO_PROXY="*",
        )  # fmt: skip

    assert done.returncode == 0, done.stderr
    (written,) = (tmp_path / "out").glob("*_grading_report.json")
    assert json.loads(written.read_text())["total_valid_submissions"] == 60
    with server.client() as admin:
        (run,) = admin.get("/v1/runs").json()["items"]
    assert run["submissions"] == {"graded": 60}
    assert server.stop() == 0
