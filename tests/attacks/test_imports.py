"""An admin who imports a hostile folder: it is refused in words, and the server stays as it was."""

from __future__ import annotations

import contextlib
import gzip
import io
import resource
import shutil
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from app.domain.competition import DEEPEST, parse_competition
from app.domain.read_leaderboard import MOST_ROWS, read_score_texts
from app.domain.toml_depth import is_nested_beyond
from app.errors import MOST_PROBLEMS, BadCompetition
from tests.api.conftest import CSV, Podium, packed
from tests.attacks.conftest import metric
from tests.factories import good_submission
from tests.forkserver import run_podium
from tests.server import PodiumServer

MEGABYTE = 1024 * 1024
SETTINGS = {"max_upload_mb": 16}


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.parametrize(
    "text",
    [
        ".".join("a" * 50_000) + " = 1",
        "[" + ".".join("a" * 50_000) + "]",
        "[[" + " . ".join(['"a"'] * 50_000) + "]]",
        "'a'." * 50_000 + "a = 1",
        "a = " + "[" * 100_000,
        "a = " + "{ b = " * 100_000,
        "\n".join(f"[{'.'.join('a' * 9)}.k{n}]" for n in range(1000)),
        'x = """\n"""\n' + ".".join("a" * 50_000) + " = 1",
    ],
)
def test_deep_toml_is_refused_before_it_is_parsed(text: str) -> None:
    before, started = peak_bytes(), time.process_time()
    with pytest.raises(BadCompetition, match="nested 8 deep"):
        parse_competition("deep", text)
    assert time.process_time() - started < 1
    assert peak_bytes() - before < 50 * MEGABYTE


@pytest.mark.parametrize("text", ['"\\"' * 300_000, '"' * 500_001, "a = '" + "\n'" * 300_000])
def test_strings_that_are_not_closed_are_passed_over_in_one_pass(text: str) -> None:
    started = time.process_time()
    assert not is_nested_beyond(text, DEEPEST)
    assert time.process_time() - started < 2


@pytest.mark.parametrize("title", [r'"a\u0000b"', r'"\U00000000"', r'"\\\u0000"'])
def test_a_nul_in_a_text_is_refused(title: str) -> None:
    """It comes by an escape only, and PostgreSQL cannot store it."""
    with pytest.raises(BadCompetition, match="character NUL"):
        parse_competition("nul", f"title = {title}")
    with pytest.raises(BadCompetition, match="version: this key is required"):
        parse_competition("nul", r'title = "a\\u0000b"')


@pytest.mark.parametrize(
    "text", ["tags = [" + "1," * 50_000 + "]", "".join(f"k{n} = 1\n" for n in range(5_000))]
)
def test_a_hundred_mistakes_of_a_toml_are_told(text: str) -> None:
    with pytest.raises(BadCompetition) as refused:
        parse_competition("wrong", text)
    assert len(refused.value.problems) == MOST_PROBLEMS


def test_many_columns_take_time_in_proportion() -> None:
    columns = "\n".join(f'c{number} = {{ kind = "number" }}' for number in range(20_000))
    head = 'title = "t"\nversion = 1\nmetric = { name = "mean_absolute_error" }\n'
    started = time.process_time()
    found = parse_competition(
        "wide", f'{head}[submission]\nid = "id"\n[submission.columns]\n{columns}'
    )
    assert found.submission is not None
    assert len(found.submission.columns) == 20_000
    assert time.process_time() - started < 4


@pytest.mark.parametrize("score", ["\u0663", "1_0", "\uff11", "1\u00a0"])
def test_scores_of_a_board_are_plain_numbers(score: str) -> None:
    with pytest.raises(BadCompetition, match="not a finite score"):
        read_score_texts(f"score\n{score}\n")


def test_every_bundled_competition_is_far_from_the_bound() -> None:
    files = sorted(Path("competitions").glob("*/competition.toml"))
    assert len(files) > 50
    assert not [file for file in files if is_nested_beyond(file.read_text(), 5)]


def test_a_board_of_too_many_rows_is_refused_before_it_is_read() -> None:
    text = "score\n" + "1\n" * (3 * MOST_ROWS)
    before, started = peak_bytes(), time.process_time()
    with pytest.raises(BadCompetition, match="more than 1000000 rows"):
        read_score_texts(text)
    assert time.process_time() - started < 1
    assert peak_bytes() - before < 50 * MEGABYTE


def problem_of(podium: Podium, folder: Path) -> str:
    answer = podium.send_folder(folder)
    assert answer.status_code == 422, answer.text
    found = answer.json()["problems"][0]
    return f"{found['file']}: {found['key']}: {found['message']}"


def test_a_version_beyond_what_the_database_takes_is_refused(podium: Podium) -> None:
    folder = podium.folder()
    toml = folder / "competition.toml"
    toml.write_text(toml.read_text().replace("version = 1", "version = 99999999999999999999999"))
    assert problem_of(podium, folder).startswith("competition.toml: version: ")


HUGE, MAP_AT_K = "9" * 4000, "mean_average_precision_at_k_score"


@pytest.mark.parametrize(
    ("metric", "column", "key"),
    [
        ('"mean_absolute_error"', f'kind = "integer", max = {HUGE}', "max"),
        ('"dice_score"', 'kind = "mask", height = 1, width = 68719476737', "target"),
        ('"dice_score"', f'kind = "mask", height = 1, width = {HUGE}', "width"),
        (f'"{MAP_AT_K}"\nparameters = {{ k = {2**63} }}', 'kind = "list"', "k"),
    ],
    ids=range(4),
)  # fmt: skip
def test_numbers_too_large_to_compute_with_are_refused(
    podium: Podium, metric: str, column: str, key: str
) -> None:
    """A grader broke down while it tried such a competition: 500, and not a word of why."""
    folder = podium.folder(kind="integer", leaderboard=None)
    toml = folder / "competition.toml"
    text = toml.read_text().replace('"mean_absolute_error"', metric)
    toml.write_text(text.replace('kind = "integer"', column))
    file, place, _ = problem_of(podium, folder).split(": ", 2)
    assert (file, place.rpartition(".")[2]) == ("competition.toml", key)


def test_a_board_of_the_largest_scores_is_imported(podium: Podium) -> None:
    """Kaggle has such boards: a team without a score has the largest number."""
    folder = podium.competition(leaderboard=[1.7e308, 1.7e308])
    shown = podium.admin.get(f"/v1/competitions/{folder.name}").json()
    assert shown["medals"]["median"] == 1.7e308


def test_more_teams_than_the_database_takes_are_refused(podium: Podium) -> None:
    """They were imported, and then no file could be graded."""
    lines = '[leaderboard]\nsource = "a test"\ngold = 0.1\nteams = {}\n'
    folder = podium.folder(leaderboard=None, toml=lines.format(2**31))
    assert problem_of(podium, folder).startswith("competition.toml: leaderboard.teams: ")
    folder = podium.competition(leaderboard=None, toml=lines.format(2**31 - 1))
    run = podium.run(folder, feedback="full")
    assert run.submit(good_submission(folder)).json()["grade"]["teams"] == 2**31 - 1


@pytest.mark.parametrize(
    ("call", "is_killed"), [("os._exit(0)", False), ("os.kill(os.getpid(), 9)", True)]
)
def test_a_metric_that_ends_its_trial_is_refused(
    podium: Podium, call: str, is_killed: bool
) -> None:
    folder = podium.folder(
        metric_py=metric("return 0.0", f"import os\n{call}"), leaderboard=None, usage=None
    )
    problem = problem_of(podium, folder)
    assert problem.startswith("metric.py: : crashed: ")
    assert ("had no memory left" in problem) == is_killed


@pytest.mark.parametrize(
    "call", ["sys.modules.clear()", "import app.grading.scorer as s; s.Scorer.score_rows = None"]
)
def test_a_metric_that_breaks_the_process_of_its_trial_is_refused(
    podium: Podium, call: str
) -> None:
    body = "return float((answers['target'] > submission['target']).any())"
    folder = podium.folder(metric_py=metric(body, f"import sys\n{call}"))
    answer = podium.send_folder(folder)
    assert answer.status_code in (201, 422), answer.text


def send_zip(podium: Podium, members: dict[str, bytes]) -> tuple[int, str]:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    answer = podium.admin.post(
        "/v1/competitions", files={"archive": ("folder.zip", buffer.getvalue())}
    )
    return answer.status_code, answer.text


def test_an_archive_of_too_many_files_is_refused_soon(podium: Podium) -> None:
    started = time.monotonic()
    status, text = send_zip(podium, {f"many/public/{n}": b"" for n in range(20_001)})
    assert status == 422, text
    assert "more than 20000 files" in text
    assert time.monotonic() - started < 30


def test_the_same_folder_imported_at_once_is_one_version(podium: Podium) -> None:
    for _ in range(5):
        archive = packed(podium.folder())
        together = threading.Barrier(4)

        def send(
            client: httpx.Client, archive: bytes = archive, together: threading.Barrier = together
        ) -> int:
            together.wait(30)
            file = ("archive.tar.gz", archive, "application/gzip")
            return client.post("/v1/competitions", files={"archive": file}).status_code

        clients = [podium.client(podium.server.key) for _ in range(4)]
        with ThreadPoolExecutor(4) as threads:
            assert sorted(threads.map(send, clients)) == [200, 200, 200, 201]


def test_an_archive_is_counted_unpacked(podium: Podium) -> None:
    status, text = send_zip(podium, {"large/public/zeros.csv": bytes(17 * MEGABYTE)})
    assert status == 422, text
    assert f"unpacks to more than {16 * MEGABYTE} bytes" in text


def test_compressed_members_of_an_archive_are_counted_unpacked(podium: Podium) -> None:
    folder = podium.folder()
    (folder / "public" / "zeros.csv.gz").write_bytes(gzip.compress(bytes(17 * MEGABYTE)))
    assert "public/zeros.csv" in problem_of(podium, folder)
    (folder / "public" / "zeros.csv.gz").write_bytes(gzip.compress(bytes(15 * MEGABYTE)))
    assert podium.send_folder(folder).status_code == 201


@pytest.mark.parametrize("size", [0, 300 * 1024])
def test_a_store_without_its_directory_is_told_as_away(tmp_path: Path, size: int) -> None:
    server = PodiumServer(tmp_path / "data", graders=1).start()
    try:
        with contextlib.ExitStack() as clients:
            podium = Podium(server, tmp_path, clients)
            folder = podium.competition()
            run = podium.run(folder)
            shutil.rmtree(server.data_dir / "blobs")
            body = good_submission(folder) + b"\n" * size
            answer = run.client.post(f"/v1/runs/{run.id}/submissions", content=body, headers=CSV)
            assert answer.status_code == 503, answer.text
            assert "directory of submitted files" in answer.json()["detail"]
    finally:
        server.kill()


@pytest.mark.parametrize("command", [["serve"], ["keys", "create", "admin"]])
def test_a_data_directory_that_cannot_be_used_is_told_in_a_sentence(
    tmp_path: Path, command: list[str]
) -> None:
    (tmp_path / "file").write_text("not a directory")
    for data in (tmp_path / "file", tmp_path / "file" / "data"):
        done = run_podium(
            command,
            env={"PODIUM_DATA_DIR": str(data), "PATH": "/usr/bin:/bin", "PODIUM_PORT": "0"},
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode != 0
        assert "Traceback" not in done.stderr
        assert "PODIUM_DATA_DIR" in done.stderr + done.stdout
