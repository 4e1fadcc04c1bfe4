"""MLAgentBench's tasks: folders take data of its real form, and score as a plain count does."""

import shutil

import pytest

from app.domain.competition import parse_competition
from app.domain.states import CompetitionStatus
from app.domain.suites import parse_suites
from app.domain.verdict import Rejection
from app.errors import BadCompetition
from app.graders.pool import GraderPool
from app.graders.program.version_loader import load_version
from app.grading.grade import grade
from app.importers.folder import stage_folder
from app.services.competitions.check_competition import check_folder
from tests.catalogue.mlagentbench import COMPETITIONS, MEASURED, TASKS, fathomnet
from tests.graders.pool import version_at

BASELINES = {  # what MLAgentBench's plots compare with, where they state a number
    "mlagentbench-imdb": 0.5,
    "mlagentbench-ogbn-arxiv": 0.3134,
    "mlagentbench-house-price": 1e10,
    "mlagentbench-spaceship-titanic": 0.5,
    "mlagentbench-fathomnet": 1e-10,
    "mlagentbench-vectorization": 6.1742,
}
DOWN = {
    "mlagentbench-house-price",
    "mlagentbench-parkinsons-disease",
    "mlagentbench-feedback",
    "mlagentbench-babylm",
    "mlagentbench-llama-inference",
    "mlagentbench-vectorization",
}


def declared(slug):
    return parse_competition(slug, (COMPETITIONS / slug / "competition.toml").read_text())


@pytest.fixture(scope="module")
def graders():
    with GraderPool(processes=1, seconds=60, memory_mb=1000, cache_mb=64) as pool:
        yield pool


@pytest.fixture(scope="module", params=TASKS)
def task(request):
    return TASKS[request.param]()


@pytest.fixture(scope="module")
def loaded(task, tmp_path_factory):
    return load_version(version_at(task.folder(tmp_path_factory.mktemp("data") / task.slug / "v1")))


def scored(version, text):
    return grade(text.encode(), version.competition, version.answers, None, version.scorer).score


def test_the_suite_names_the_thirteen():
    suites = parse_suites((COMPETITIONS / "suites.toml").read_text())

    assert set(suites["mlagentbench"]) == set(TASKS) | MEASURED


@pytest.mark.parametrize("slug", sorted({*TASKS, *MEASURED}))
def test_it_declares_direction_and_baseline(slug):
    competition = declared(slug)

    assert competition.metric.higher_is_better is (slug not in DOWN)
    assert competition.is_measured is (slug in MEASURED)
    assert competition.leaderboard is None
    known = competition.baseline
    assert (known and known.score) == BASELINES.get(slug)
    assert known is None or known.success_threshold == 0.1
    assert (known is None) is ("no_baseline" in {flag.code for flag in competition.flags})


def test_a_well_formed_file_scores_as_a_plain_count_says(task, loaded):
    for name, (text, expected) in task.good.items():
        assert scored(loaded, text) == pytest.approx(expected, rel=1e-12), name


def test_a_malformed_file_is_refused_for_the_right_reason(task, loaded):
    assert task.bad
    for name, (text, code) in task.bad.items():
        with pytest.raises(Rejection) as caught:
            loaded.answers.check(text.encode())
        assert code in {v.code.value for v in caught.value.verdict.violations}, name


def test_the_folder_with_data_passes_podium_check(graders, task, tmp_path):
    found = check_folder(graders, task.folder(tmp_path / task.slug))

    assert found.problems == ()
    assert found.status is CompetitionStatus.READY
    assert found.rows == len(task.answers.splitlines()) - 1


@pytest.mark.parametrize("slug", sorted(MEASURED))
def test_a_measured_folder_needs_no_data(graders, slug):
    found = check_folder(graders, COMPETITIONS / slug)

    assert (found.problems, found.status, found.rows) == ((), CompetitionStatus.READY, None)


@pytest.mark.parametrize(
    ("file", "text"),
    [("private/answers.csv", "id,x\n1,2\n"), ("public/sample_submission.csv", "id,x\n1,2\n"),
     ("metric.py", "def score(a, b): return 1.0\n"), ("leaderboard.csv", "score\n1\n")],
)  # fmt: skip
def test_a_measured_folder_takes_nothing_of_what_only_grading_needs(file, text, tmp_path):
    folder = tmp_path / "mlagentbench-clrs"
    shutil.copytree(COMPETITIONS / folder.name, folder)
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(text)

    with pytest.raises(BadCompetition) as caught:
        stage_folder(folder, tmp_path / "staged", max_bytes=1 << 20)

    assert [(p["file"], "measured" in p["message"]) for p in caught.value.problems] == [
        (file, True)
    ]


def test_fathomnets_score_is_the_same_each_time_and_half_of_map_where_all_is_in_sample(tmp_path):
    task = fathomnet(osd="none")
    version = load_version(version_at(task.folder(tmp_path / task.slug / "v1")))

    for text, expected in task.good.values():
        first, *more = [scored(version, text) for _ in range(3)]
        assert first == pytest.approx(expected, rel=1e-12)
        assert more == [first, first]
    assert scored(version, task.answers) == 0.5  # perfect categories, and no area to win


def test_fathomnets_truth_must_be_0_or_1(graders, tmp_path):
    task = fathomnet()
    task.answers = task.answers.replace(",1\n", ",0.7\n", 1)
    found = check_folder(graders, task.folder(tmp_path / task.slug))

    assert [(p["file"], "ValueError" in p["message"]) for p in found.problems] == [
        ("metric.py", True)
    ]
