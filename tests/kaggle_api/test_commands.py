"""Kaggle's real command line against a real server, by route A."""

from __future__ import annotations

import csv
import io
import zipfile

import pytest

from tests.factories import good_submission
from tests.kaggle_api.agent import basic, bearer, told
from tests.kaggle_api.conftest import NEW, OLD

CLIENTS = pytest.mark.parametrize("client", [NEW, OLD])


def rows(text: str) -> list[dict[str, str]]:
    lines = [line for line in text.splitlines() if line and not line.startswith("Next Page")]
    return list(csv.DictReader(io.StringIO("\n".join(lines))))


@CLIENTS
@pytest.mark.parametrize("credentials", [basic, bearer])
def test_a_run_lists_its_own_competition_and_its_files(
    podium, tiny, make_agent, client, credentials
):
    podium.competition()  # another one, which is none of its business
    agent = make_agent(podium.run(tiny).document["key"], client, credentials)

    listed = agent.kaggle("list", "-v")
    other = agent.kaggle("list", "-v", "-s", "another competition")
    files = agent.kaggle("files", tiny.name, "-v")

    assert [row["ref"] for row in rows(listed.stdout)] == [tiny.name], told(listed)
    assert other.returncode == 0
    assert tiny.name not in other.stdout
    assert {row["name"] for row in rows(files.stdout)} == {"sample_submission.csv", "train.csv"}
    assert files.returncode == 0


@CLIENTS
def test_everything_is_downloaded_once(podium, tiny, make_agent, client):
    agent = make_agent(podium.run(tiny).document["key"], client)

    first = agent.kaggle("download", tiny.name)
    again = agent.kaggle("download", tiny.name)

    archive = agent.home / f"{tiny.name}.zip"
    assert first.returncode == 0, told(first)
    with zipfile.ZipFile(archive) as packed:
        assert {
            name: packed.read(name) for name in packed.namelist()
        } == {
            name: (tiny / "public" / name).read_bytes()
            for name in ("sample_submission.csv", "train.csv")
        }  # fmt: skip
    assert "Skipping" in told(again)


@CLIENTS
def test_one_file_is_downloaded_from_a_folder_too(podium, make_agent, client):
    folder = podium.folder()
    (folder / "public" / "images").mkdir()
    (folder / "public" / "images" / "1.png").write_bytes(b"a picture")
    assert podium.send_folder(folder).status_code == 201
    agent = make_agent(podium.run(folder).document["key"], client)

    plain = agent.kaggle("download", folder.name, "-f", "train.csv")
    nested = agent.kaggle("download", folder.name, "-f", "images/1.png")
    place = "images/1.png" if client == NEW else "1.png"  # older clients keep no folders
    missing = agent.kaggle("download", folder.name, "-f", "answers.csv")

    assert (plain.returncode, nested.returncode, missing.returncode) == (0, 0, 1)
    assert (agent.home / "train.csv").read_bytes() == (folder / "public/train.csv").read_bytes()
    assert (agent.home / place).read_bytes() == b"a picture"
    assert "has no public file 'answers.csv'" in told(missing)


@CLIENTS
def test_a_good_file_is_submitted_and_listed(podium, tiny, good, make_agent, client):
    run = podium.run(tiny, feedback="public", limits={"submissions_per_day": 5})
    agent = make_agent(run.document["key"], client)
    agent.write("model_a.csv", good)

    sent = agent.kaggle("submit", tiny.name, "-f", "model_a.csv", "-m", "first, é")
    listed = rows(agent.kaggle("submissions", tiny.name, "-v").stdout)

    assert sent.returncode == 0, told(sent)
    assert "Successfully submitted to Tiny" in sent.stdout
    assert ("4 submissions remaining today" in sent.stdout) == (client == NEW)
    (line,) = listed
    assert (line["fileName"], line["description"]) == ("model_a.csv", "first, é")
    assert line["status"].endswith("COMPLETE")
    assert float(line["publicScore"]) == pytest.approx(0.12)
    assert line["privateScore"] == ""
    (kept,) = run.client.get(f"/v1/runs/{run.id}/submissions").json()["items"]
    assert (kept["state"], kept["message"]) == ("graded", "first, é")


@pytest.mark.parametrize(
    ("policy", "score"), [("public", 0.12), ("validity", None), ("none", None)]
)
def test_the_newest_client_waits_for_the_outcome(podium, tiny, good, make_agent, policy, score):
    agent = make_agent(podium.run(tiny, feedback=policy).document["key"], NEW)
    agent.write("model.csv", good)

    sent = agent.kaggle("submit", tiny.name, "-f", "model.csv", "-m", "", "--wait", "60")
    ref = sent.stdout.partition("Submission ref: ")[2].split()[0]
    shown = agent.kaggle("submission", ref)
    copied = agent.kaggle("submission-download", ref)

    assert sent.returncode == 0, told(sent)
    waited = sent.stdout.partition("Submission scored. Public score: ")[2].split("\n")[0]
    lines = dict(line.split(":", 1) for line in shown.stdout.splitlines() if ":" in line)
    told_score = lines["Public Score"].strip()
    assert (lines["Submission Ref"].strip(), lines["Status"].strip()) == (ref, "COMPLETE")
    if score is None:
        assert (waited, told_score) == ("(not published)", "")
    else:
        assert float(waited) == float(told_score) == pytest.approx(score)
    assert copied.returncode == 0, told(copied)
    assert (agent.home / f"{ref}.csv").read_bytes() == good


@CLIENTS
def test_a_bad_file_is_refused_with_every_reason(podium, tiny, make_agent, client):
    run = podium.run(tiny)
    agent = make_agent(run.document["key"], client)
    agent.write("bad.csv", b"id,target\nr1,x\n")

    sent = agent.kaggle("submit", tiny.name, "-f", "bad.csv", "-m", "oops")
    (line,) = rows(agent.kaggle("submissions", tiny.name, "-v").stdout)

    assert sent.returncode == 1
    for words in ("not a valid submission", "(1)", "(2)", "(3)", "does not count"):
        assert words in told(sent)
    assert line["status"].endswith("ERROR")
    assert "Traceback" not in told(sent)


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
@pytest.mark.parametrize("client", ["kaggle-2.0.2", "kaggle-2.1.2"])
def test_the_versions_between_pass_every_step(podium, tiny, good, make_agent, client):
    agent = make_agent(podium.run(tiny, feedback="public").document["key"], client)
    agent.write("s.csv", good)

    steps = [
        agent.kaggle(*words)
        for words in (
            ("list", "-v"), ("files", tiny.name, "-v"), ("download", tiny.name),
            ("submit", tiny.name, "-f", "s.csv", "-m", "m"), ("submissions", tiny.name, "-v"),
            ("leaderboard", tiny.name, "--show", "-v"),
        )
    ]  # fmt: skip

    assert [ran.returncode for ran in steps] == [0] * len(steps), [told(ran) for ran in steps]
    assert float(rows(steps[4].stdout)[0]["publicScore"]) == pytest.approx(0.12)


def test_an_empty_file_is_refused_in_words(podium, tiny, make_agent):
    agent = make_agent(podium.run(tiny).document["key"])
    agent.write("empty.csv", b"")

    sent = agent.kaggle("submit", tiny.name, "-f", "empty.csv", "-m", "nothing")

    assert sent.returncode == 1
    assert "not a valid submission" in told(sent)


def test_pages_tell_the_task_and_the_rules_of_this_service(podium, tiny, make_agent):
    run = podium.run(tiny, limits={"submissions_total": 7, "hours": 3})
    agent = make_agent(run.document["key"])

    names = agent.kaggle("pages", "-c", tiny.name)
    content = agent.kaggle("pages", "-c", tiny.name, "--content", "--page-name", "rules")
    task = agent.kaggle("pages", "-c", tiny.name, "--content", "--page-name", "description")

    for name in ("description", "evaluation", "rules", "data-description"):
        assert name in names.stdout
    assert "7 valid submissions in all" in content.stdout
    assert "Predict `target`" in task.stdout


@pytest.mark.parametrize(
    ("policy", "status", "public", "private"),
    [
        ("none", "COMPLETE", False, False),
        ("validity", "COMPLETE", False, False),
        ("public", "COMPLETE", True, False),
        ("full", "COMPLETE", True, True),
    ],
)
def test_a_policy_decides_what_is_told(
    podium, tiny, good, make_agent, policy, status, public, private
):
    run = podium.run(tiny, feedback=policy)
    agent = make_agent(run.document["key"])
    agent.write("s.csv", good)
    assert agent.kaggle("submit", tiny.name, "-f", "s.csv", "-m", "m").returncode == 0

    (line,) = rows(agent.kaggle("submissions", tiny.name, "-v").stdout)
    shown = agent.kaggle("leaderboard", tiny.name, "--show", "-v")
    agent.kaggle("leaderboard", tiny.name, "--download", "-p", "board")

    assert line["status"].endswith(status)
    assert (line["publicScore"] != "", line["privateScore"] != "") == (public, private)
    board = rows(shown.stdout)
    if policy == "full":
        assert [float(team["score"]) for team in board] == pytest.approx(
            [0.05 * place for place in range(1, 13)]
        )
    else:
        (own,) = board
        assert own["teamName"] == run.id
        assert (own["score"] != "") == public
    with zipfile.ZipFile(agent.home / "board" / f"{tiny.name}.zip") as packed:
        (name,) = packed.namelist()
        part = "private" if policy == "full" else "public"
        assert name == f"{tiny.name}-{part}leaderboard.csv"
        text = packed.read(name).decode("utf-8-sig")
    assert [team["Score"] for team in rows(text)] == [team["score"] for team in board]
    told_numbers = run.client.get(f"/v1/runs/{run.id}/exposure").json()["totals"]
    assert told_numbers == {
        "validations": 0, "search_scores": 0,
        "public_scores": int(public), "private_scores": int(private), "failures": 0,
    }  # fmt: skip


def test_a_board_of_medal_lines_shows_the_runs_own_line(podium, good, make_agent):
    lines = (
        '[leaderboard]\nsource = "a test"\nteams = 12\ngold = 0.05\nsilver = 0.1\nbronze = 0.2\n'
    )
    folder = podium.competition(leaderboard=None, toml=lines)
    run = podium.run(folder, feedback="full")
    run.submit(good_submission(folder, shift=0.12))
    agent = make_agent(run.document["key"])

    (own,) = rows(agent.kaggle("leaderboard", folder.name, "--show", "-v").stdout)
    (listed,) = rows(agent.kaggle("list", "-v").stdout)

    assert (own["teamName"], float(own["score"])) == (run.id, pytest.approx(0.12))
    assert listed["deadline"].startswith("2999-12-31")  # it has no limit of hours


def test_none_tells_a_bad_file_as_a_good_one(podium, tiny, make_agent):
    agent = make_agent(podium.run(tiny, feedback="none").document["key"])
    agent.write("bad.csv", b"nonsense")

    sent = agent.kaggle("submit", tiny.name, "-f", "bad.csv", "-m", "m")
    (line,) = rows(agent.kaggle("submissions", tiny.name, "-v").stdout)

    assert (sent.returncode, "Successfully submitted" in sent.stdout) == (0, True)
    assert line["status"].endswith("COMPLETE")


def test_only_the_own_run_downloads_a_file_again_and_no_score_counts_as_shown(
    podium, tiny, good, make_agent
):
    run, other = podium.run(tiny, feedback="full"), podium.run(tiny, feedback="full")
    sent = run.submit(good, Prefer="return=minimal").json()["id"]
    podium.settled(sent)
    ref = str(int(sent[4:18], 16))
    agent, stranger = make_agent(run.document["key"]), make_agent(other.document["key"])

    ran, refused = (one.kaggle("submission-download", ref) for one in (agent, stranger))

    assert ran.returncode == 0, told(ran)
    assert (agent.home / f"{ref}.csv").read_bytes() == good
    ledger = run.client.get(f"/v1/runs/{run.id}/exposure").json()
    assert set(ledger["totals"].values()) == {0}
    assert (refused.returncode, f"has no submission {ref}" in told(refused)) == (1, True)


def test_runs_never_see_each_other(podium, tiny, good, make_agent):
    one, other = podium.run(tiny, feedback="full"), podium.run(tiny, feedback="public")
    sent = one.submit(good_submission(tiny, shift=777.7)).json()
    agent = make_agent(other.document["key"])
    agent.write("s.csv", good)
    agent.kaggle("submit", tiny.name, "-f", "s.csv", "-m", "mine")

    said = told(agent.kaggle("submissions", tiny.name, "-v"))
    said += told(agent.kaggle("leaderboard", tiny.name, "--show", "-v"))

    assert str(sent["grade"]["score"]) not in said
    assert one.id not in said


@CLIENTS
def test_refusals_say_what_to_do_here(podium, tiny, good, make_agent, client):
    limited = podium.run(tiny, limits={"submissions_per_day": 1})
    closed = podium.run(tiny)
    podium.admin.patch(f"/v1/runs/{closed.id}", json={"state": "closed"})
    another = podium.competition()
    submit = ("submit", tiny.name, "-f", "s.csv", "-m", "m")

    agent = make_agent(limited.document["key"], client)
    agent.write("s.csv", good)
    assert agent.kaggle(*submit).returncode == 0
    over_quota = agent.kaggle(*submit)
    elsewhere = agent.kaggle("files", another.name)
    agent = make_agent(closed.document["key"], client)
    agent.write("s.csv", good)
    too_late = agent.kaggle(*submit)
    packed = agent.write("s.zip", b"PK")
    archive = agent.kaggle("submit", tiny.name, "-f", packed.name, "-m", "m")

    for ran, words in (
        (over_quota, "may send 1 submissions in 24 hours"),
        (elsewhere, f"run is at the competition {tiny.name}"),
        (too_late, "is closed and accepts nothing more"),
        (archive, "submit the plain CSV file"),
    ):
        assert ran.returncode == 1, told(ran)
        assert words in told(ran)
        assert "kaggle.com" not in told(ran)


@CLIENTS
@pytest.mark.parametrize("credentials", [basic, bearer])
def test_a_wrong_key_ends_without_a_traceback(podium, tiny, make_agent, client, credentials):
    agent = make_agent("pod_run_wrong", client, credentials)

    ran = agent.kaggle("files", tiny.name)

    assert ran.returncode == 1
    assert "Traceback" not in told(ran)


def test_a_researchers_key_looks_and_does_not_submit(podium, tiny, good, make_agent):
    agent = make_agent(podium.researcher_key())
    agent.write("s.csv", good)

    files = agent.kaggle("files", tiny.name, "-v")
    sent = agent.kaggle("submit", tiny.name, "-f", "s.csv", "-m", "m")

    assert "train.csv" in files.stdout
    assert (sent.returncode, "Submissions belong to a run" in told(sent)) == (1, True)


def test_a_sandbox_submission_is_refused_and_does_not_count(podium, tiny, good, make_agent):
    run = podium.run(tiny)
    agent = make_agent(run.document["key"])
    agent.write("s.csv", good)

    sent = agent.kaggle("submit", tiny.name, "-f", "s.csv", "-m", "a trial", "--sandbox")

    assert (sent.returncode, "without --sandbox" in told(sent)) == (1, True), told(sent)
    assert run.client.get(f"/v1/runs/{run.id}/submissions").json()["items"] == []


def test_limits_are_told(podium, tiny, good, make_agent):
    run = podium.run(tiny, limits={"submissions_total": 3})
    run.submit(good)
    agent = make_agent(run.document["key"])

    said = told(agent.kaggle("submission-limits", tiny.name))

    assert "2" in said


def test_the_python_package_submits_too(podium, tiny, good, make_agent):
    run = podium.run(tiny, feedback="public")
    agent = make_agent(run.document["key"], NEW, bearer)
    agent.write("s.csv", good)

    ran = agent.python(f"""
import kaggle
made = kaggle.api.competition_submit("s.csv", "from python", "{tiny.name}")
(one,) = kaggle.api.competition_submissions("{tiny.name}")
assert one.ref == made.ref, (one.ref, made.ref)
print(one.public_score, repr(one.private_score), one.status)
""")

    assert ran.returncode == 0, told(ran)
    assert ran.stdout.strip().splitlines()[-1].startswith("0.1")
