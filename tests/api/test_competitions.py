from __future__ import annotations

from pathlib import Path

import pytest

from app.api.schemas.competitions import CompetitionOut
from tests.api.conftest import Podium, packed
from tests.factories import write_competition


def test_it_tells_what_a_submission_must_look_like(podium: Podium, tiny: Path) -> None:
    competition = podium.admin.get(f"/v1/competitions/{tiny.name}").json()

    assert competition["version"] == 1
    assert competition["status"] == "ready"
    assert competition["metric"] == {
        "name": "root_mean_squared_error", "parameters": {}, "higher_is_better": False
    }  # fmt: skip
    assert competition["submission"]["id"] == ["id"]
    assert competition["submission"]["rows"] == 20
    assert competition["submission"]["columns"] == [{"name": "target", "kind": "number"}]
    assert [f["name"] for f in competition["files"]] == ["sample_submission.csv", "train.csv"]
    assert competition["medals"]["teams"] == 12
    assert competition["medals"]["complete"] is True
    assert len(competition["content_hash"]) == 64


def test_the_files_are_the_same_in_every_answer(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny)
    for client in (podium.admin, run.client):
        shown = client.get(f"/v1/competitions/{tiny.name}")
        files = client.get(f"/v1/competitions/{tiny.name}/files")
        listed = client.get("/v1/competitions", params={"limit": 500})

        assert files.json() == {"items": shown.json()["files"], "next_cursor": None}
        assert shown.json() in listed.json()["items"]
        assert list(shown.json()) == list(CompetitionOut.model_fields)
        assert {each.headers["content-type"] for each in (shown, files, listed)} == {
            "application/json"
        }


def test_no_version_follows_the_largest_one(podium: Podium) -> None:
    folder = podium.folder()
    toml = folder / "competition.toml"
    toml.write_text(toml.read_text().replace("version = 1", f"version = {2**31 - 1}"))
    assert podium.send_folder(folder).status_code == 201
    (folder / "description.md").write_text("# Other words\n")

    answer = podium.send_folder(folder)

    assert answer.status_code == 422, answer.text
    found = answer.json()["problems"][0]
    assert (found["file"], found["key"]) == ("competition.toml", "version")
    shown = podium.admin.get(f"/v1/competitions/{folder.name}").json()
    assert shown["version"] == 2**31 - 1


def test_medal_lines_are_shown_to_a_run_of_the_policy_full_alone(
    podium: Podium, tiny: Path
) -> None:
    for policy in ("none", "validity", "public"):
        run = podium.run(tiny, feedback=policy)
        seen = run.client.get(f"/v1/competitions/{tiny.name}").json()
        assert (seen["medals"], seen["content_hash"]) == (None, None)
    run = podium.run(tiny, feedback="full")
    assert run.client.get(f"/v1/competitions/{tiny.name}").json()["medals"]["teams"] == 12


def test_the_description_is_markdown(podium: Podium, tiny: Path) -> None:
    response = podium.admin.get(f"/v1/competitions/{tiny.name}/description")

    assert response.headers["Content-Type"].startswith("text/markdown")
    assert response.text.startswith("# Tiny")


def test_a_description_is_read_without_its_byte_order_mark(podium: Podium) -> None:
    folder = podium.folder()
    (folder / "description.md").write_text("# Begins with a mark", encoding="utf-8-sig")
    assert podium.send_folder(folder).status_code == 201

    response = podium.admin.get(f"/v1/competitions/{folder.name}/description")

    assert response.content == b"# Begins with a mark"


def test_the_leaderboard_comes_as_json_and_as_csv(podium: Podium, tiny: Path) -> None:
    url = f"/v1/competitions/{tiny.name}/leaderboard"

    board = podium.admin.get(url).json()
    table = podium.admin.get(url, headers={"Accept": "text/csv"}).text.splitlines()

    assert board["teams"] == len(board["scores"]) == 12
    assert table[:2] == ["place,score", f"1,{board['scores'][0]}"]


def test_kaggles_clients_are_told_of_medal_lines_alone(podium: Podium) -> None:
    lines = '[leaderboard]\nsource = "a test"\nteams = 1\ngold = 0.05\nsilver = 0.1\nbronze = 0.2\n'
    folder = podium.competition(leaderboard=None, toml=lines)

    answer = podium.admin.get(f"/api/v1/competitions/{folder.name}/leaderboard/view")

    assert answer.status_code == 404
    assert "of 1 team are known: gold 0.05, silver 0.1, bronze 0.2." in answer.text


def test_a_standing_needs_no_submission(podium: Podium, tiny: Path) -> None:
    board = podium.admin.get(f"/v1/competitions/{tiny.name}/leaderboard").json()
    score = board["scores"][1]

    standing = podium.admin.get(
        f"/v1/competitions/{tiny.name}/standing", params={"score": score}
    ).json()

    assert standing == {
        "score": score, "medal": "silver", "better": 1, "equal": 1, "worse": 10, "teams": 12,
        "percentile": 100 * 11 / 12, "above_median": True,
        "decimals": None, "borderline": False, "unrounded_medal": "silver",
    }  # fmt: skip


@pytest.mark.parametrize("score", ["nan", "inf", "-Infinity", "abc", ""])
def test_a_standing_needs_a_finite_score(podium: Podium, tiny: Path, score: str) -> None:
    response = podium.admin.get(f"/v1/competitions/{tiny.name}/standing?score={score}")

    assert response.status_code == 422


def test_the_same_archive_is_the_same_version(podium: Podium, tiny: Path) -> None:
    again = podium.send_folder(tiny)

    assert again.status_code == 200
    assert again.json()["version"] == 1


def test_new_content_is_a_new_version_and_runs_keep_theirs(podium: Podium, own_tiny: Path) -> None:
    before = podium.run(own_tiny, feedback="full")
    write_competition(own_tiny, seed=1)

    new = podium.send_folder(own_tiny)
    after = podium.run(own_tiny, feedback="full")

    assert (new.status_code, new.json()["version"]) == (201, 2)
    assert podium.admin.get(f"/v1/competitions/{own_tiny.name}").json()["version"] == 2
    assert before.client.get(f"/v1/competitions/{own_tiny.name}").json()["version"] == 1
    assert after.client.get(f"/v1/competitions/{own_tiny.name}").json()["version"] == 2
    sample = (own_tiny / "public" / "sample_submission.csv").read_bytes()
    old, newer = before.submit(sample).json(), after.submit(sample).json()
    assert old["grade"]["competition_version"] == 1
    assert newer["grade"]["competition_version"] == 2
    assert old["grade"]["score"] != newer["grade"]["score"]


def test_a_folder_with_a_mistake_is_refused_with_file_and_key(podium: Podium) -> None:
    folder = podium.folder(toml="\n[surprise]\nx = 1\n")

    response = podium.send_folder(folder)

    assert response.status_code == 422
    problem = response.json()["problems"][0]
    assert (problem["file"], problem["key"]) == ("competition.toml", "surprise")
    assert podium.admin.get(f"/v1/competitions/{folder.name}").status_code == 404


@pytest.mark.parametrize(
    "body", [b"", b"no archive at all", b"PK\x03\x04 broken", b"\x1f\x8b broken"]
)
def test_what_is_no_archive_is_refused(podium: Podium, body: bytes) -> None:
    response = podium.admin.post("/v1/competitions", files={"archive": ("a.zip", body)})

    assert response.status_code == 422
    assert response.headers["Content-Type"] == "application/problem+json"


def test_an_archive_in_the_wrong_part_is_told(podium: Podium, tiny: Path) -> None:
    response = podium.admin.post("/v1/competitions", files={"file": ("a.tgz", packed(tiny))})

    assert response.status_code == 422
    assert "'archive'" in response.json()["detail"]


def test_a_run_finds_its_competition_by_name_alone(podium: Podium, tiny: Path) -> None:
    agent = podium.run(tiny).client
    title = podium.admin.get(f"/v1/competitions/{tiny.name}").json()["title"]

    def found(**query: str) -> list[str]:
        answer = agent.get("/v1/competitions", params=query)
        assert answer.status_code == 200
        return [one["slug"] for one in answer.json()["items"]]

    assert found() == found(q=title.upper()) == found(q=tiny.name) == [tiny.name]
    assert found(q="another competition") == []
    assert found(tag="a tag that it has not") == [tiny.name]  # what it has, an agent is not told


def test_competitions_are_found_by_name_and_paged(podium: Podium, tiny: Path) -> None:
    podium.competition()
    found = podium.admin.get("/v1/competitions", params={"q": tiny.name}).json()["items"]
    first = podium.admin.get("/v1/competitions", params={"limit": 1}).json()
    rest = podium.admin.get("/v1/competitions", params={"cursor": first["next_cursor"]}).json()

    assert tiny.name in [c["slug"] for c in found]
    assert len(first["items"]) == 1
    assert first["items"][0]["slug"] not in [c["slug"] for c in rest["items"]]


def test_a_competition_without_data_is_described_but_not_run(podium: Podium) -> None:
    folder = podium.folder()
    (folder / "private" / "answers.csv").unlink()
    imported = podium.send_folder(folder)
    standing = podium.admin.get(f"/v1/competitions/{folder.name}/standing?score=0.2")
    body = {"experiment": podium.experiment(), "competition": folder.name, "seed": 0}
    run = podium.admin.post("/v1/runs", json=body)

    assert imported.json()["status"] == "needs_data"
    assert standing.json()["teams"] == 12
    assert run.status_code == 409
