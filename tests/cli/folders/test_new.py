"""`podium new`: from a table to a competition that grades over HTTP."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from sklearn import datasets
from statsmodels import datasets as statsmodels_data
from vega_datasets import local_data

from app.errors import Invalid, PodiumError
from app.preparation.from_table.tables import read_table
from app.read_settings import read_settings
from app.services.competitions.check_competition import check_folder
from app.services.competitions.new_competition import Made, NewCompetitionChoices, new_competition
from app.services.grading.grade_folder import grade_with_folder, local_graders
from tests.api.conftest import Podium, packed, podium, server
from tests.forkserver import run_podium

__all__ = ["podium", "server"]  # fixtures
ONE_SERVER = pytest.mark.parametrize("server", ["sqlite"], indirect=True)
Done = subprocess.CompletedProcess[str]


def digits() -> pd.DataFrame:
    return datasets.load_digits(as_frame=True).frame


def linnerud() -> pd.DataFrame:
    frame = datasets.load_linnerud(as_frame=True).frame
    return pd.concat([frame] * 2, ignore_index=True)


TABLES: dict[str, tuple[Callable[[], pd.DataFrame], str, str]] = {
    "breast-cancer": (
        lambda: datasets.load_breast_cancer(as_frame=True).frame, "target", "probability",
    ),
    "diabetes": (lambda: datasets.load_diabetes(as_frame=True).frame, "target", "number"),
    "digits": (digits, "target", "integer"),
    "iris": (
        lambda: datasets.load_iris(as_frame=True).frame.replace(
            {"target": {0: "setosa", 1: "versicolor", 2: "virginica"}}
        ), "target", "label",
    ),
    "linnerud": (linnerud, "Weight", "number"),
    "wine": (lambda: datasets.load_wine(as_frame=True).frame, "target", "integer"),
    "affairs": (lambda: statsmodels_data.fair.load_pandas().data, "affairs", "number"),
    "election": (lambda: statsmodels_data.anes96.load_pandas().data, "vote", "probability"),
    "parties": (lambda: statsmodels_data.anes96.load_pandas().data, "PID", "integer"),
    "crime": (lambda: statsmodels_data.statecrime.load_pandas().data, "murder", "number"),
    "cars": (lambda: pd.read_json(local_data.cars.filepath), "Origin", "label"),
    "stocks": (local_data.stocks, "price", "number"),
    "weather": (local_data.seattle_weather, "weather", "label"),
}  # fmt: skip


def made(folder: Path, data: Path, target: str, **more: object) -> Made:
    settings = read_settings()
    choices = NewCompetitionChoices(data, target, **{"with_baseline": False, **more})  # type: ignore[arg-type]
    return new_competition(
        folder, choices, lambda competition, file: grade_with_folder(settings, competition, file)[1]
    )


@ONE_SERVER
@pytest.mark.parametrize("name", TABLES)
def test_a_real_table_becomes_a_competition_that_grades(
    podium: Podium, tmp_path: Path, name: str
) -> None:
    load, target, kind = TABLES[name]
    load().to_csv(tmp_path / "table.csv", index=False)

    competition = made(tmp_path / name, tmp_path / "table.csv", target)
    sent = podium.admin.post(
        "/v1/competitions", files={"archive": (f"{name}.zip", packed(competition.folder))}
    )
    run = podium.run(competition.folder, feedback="full")
    perfect = (competition.folder / "private" / "answers.csv").read_bytes()
    sample = (competition.folder / "public" / "sample_submission.csv").read_bytes()

    assert sent.status_code == 201, sent.text
    assert competition.target.kind == kind
    rows = competition.train_rows + competition.public_rows + competition.private_rows
    assert rows == len(load())
    assert run.submit(sample).json()["state"] == "graded"
    graded = run.submit(perfect).json()
    assert graded["grade"]["score"] in (0.0, 1.0), graded
    train = pd.read_csv(competition.folder / "public" / "train.csv")
    test = pd.read_csv(competition.folder / "public" / "test.csv")
    assert not set(train["id"]) & set(test["id"])
    assert target not in test.columns


def test_the_baseline_is_a_grade_of_scikit_learns_defaults(tmp_path: Path) -> None:
    datasets.load_diabetes(as_frame=True).frame.to_parquet(tmp_path / "table.parquet")

    competition = made(
        tmp_path / "diabetes", tmp_path / "table.parquet", "target", with_baseline=True
    )

    declared = tomllib.loads((competition.folder / "competition.toml").read_text())["baseline"]
    assert 40 < competition.baseline_score < 80  # type: ignore[operator]
    assert declared["score"] == competition.baseline_score
    assert declared["source"].startswith("HistGradientBoostingRegressor of scikit-learn ")


def test_a_metric_that_is_defined_from_0_up_has_a_column_from_0_up(tmp_path: Path) -> None:
    table = pd.DataFrame({"x": range(100), "y": [0.0] * 60 + [1.5] * 39 + [9.0]})
    table.to_csv(tmp_path / "table.csv", index=False)

    competition = made(
        tmp_path / "prices", tmp_path / "table.csv", "y",
        metric="root_mean_squared_log_error", with_baseline=True,
    )  # fmt: skip

    assert competition.baseline_score is not None
    with local_graders(read_settings()) as graders:
        assert check_folder(graders, competition.folder).problems == ()


def test_the_same_seed_makes_the_same_folder(tmp_path: Path) -> None:
    datasets.load_wine(as_frame=True).frame.to_csv(tmp_path / "table.csv", index=False)
    folders = [
        made(tmp_path / number / "wine", tmp_path / "table.csv", "target", seed=seed).folder
        for number, seed in (("one", 1), ("two", 1), ("three", 2))
    ]

    one, two, three = (
        {file.name: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
        for folder in folders
    )

    assert one == two
    assert one["answers.csv"] != three["answers.csv"]


@pytest.mark.parametrize(
    ("targets", "more"),
    [
        (["1.0", "0.0", "0.0"] * 20, {}),
        (["0"] * 48 + ["1", "0"] * 6, {"how": "time", "by": "day"}),  # the model knows one class
    ],
)
def test_a_table_that_scikit_learn_does_not_take_has_a_baseline(
    tmp_path: Path, targets: list[str], more: dict[str, object]
) -> None:
    rows = [f"{n},,{target}" for n, target in enumerate(targets)]  # and an empty column
    (tmp_path / "t.csv").write_text("\n".join(["day,empty,y", *rows]) + "\n")

    competition = made(tmp_path / "x", tmp_path / "t.csv", "y", with_baseline=True, **more)

    assert competition.target.kind == "probability"
    assert competition.baseline_score is not None
    answers = pd.read_csv(tmp_path / "x" / "private" / "answers.csv", dtype=str)
    assert set(answers["y"]) == {"0", "1"}


@pytest.mark.parametrize(
    ("how", "by"), [("stratified", None), ("group", "city"), ("time", "day"), ("random", None)]
)
def test_rows_to_search_on_are_split_as_the_public_ones(
    tmp_path: Path, how: str, by: str | None
) -> None:
    days = pd.date_range("2026-01-01", periods=600)
    table = pd.DataFrame({"day": days, "city": [f"c{n % 60}" for n in range(600)]})
    table["y"] = [int((n // 60 + n % 60) % 3 == 0) for n in range(600)]
    table.to_csv(tmp_path / "table.csv", index=False)

    competition = made(
        tmp_path / "searched", tmp_path / "table.csv", "y", how=how, by=by, test_share=0.5,
        public_share=0.2, search_share=0.25, with_baseline=True,
    )  # fmt: skip

    rows = {"Public": competition.public_rows, "Search": competition.search_rows,
            "Private": competition.private_rows}  # fmt: skip
    if how == "group":  # whole groups, of 10 rows each
        assert sum(rows.values()) == 300
        assert min(rows["Public"], rows["Search"]) >= 40
    else:
        assert rows == {"Public": 60, "Search": 60, "Private": 180}
    answers = pd.read_csv(competition.folder / "private" / "answers.csv")
    assert answers["Usage"].value_counts().to_dict() == rows
    assert competition.baseline_score is not None
    test = pd.read_csv(competition.folder / "public" / "test.csv").merge(answers, on="id")
    if how == "stratified":
        assert test.groupby("Usage")["y"].mean().to_dict() == dict.fromkeys(rows, 1 / 3)
    if how == "group":
        assert test.groupby("city")["Usage"].nunique().max() == 1
    if how == "time":
        first, last = (test.groupby("Usage")["day"].agg(which) for which in ("min", "max"))
        assert last["Public"] < first["Search"] <= last["Search"] < first["Private"]


def test_too_few_rows_to_search_on_are_refused(tmp_path: Path) -> None:
    pd.DataFrame({"x": range(100), "y": range(100)}).to_csv(tmp_path / "table.csv", index=False)
    with pytest.raises(Invalid, match="--search-share: 2 rows to search on and 12 private ones"):
        made(tmp_path / "small", tmp_path / "table.csv", "y", search_share=0.1)
    assert not (tmp_path / "small").exists()


def test_ids_have_a_name_that_no_column_has(tmp_path: Path) -> None:
    rows = [f"{n},{n},{n},{n * n % 17 / 3}" for n in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["id,row_id,podium_id,y", *rows]) + "\n")

    competition = made(tmp_path / "x", tmp_path / "t.csv", "y")

    assert (competition.folder / "public" / "test.csv").read_text().startswith("podium_id_2,id,")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "table.csv"
    rows = [
        f"k{n},{n % 4},{n},{'' if n % 9 else n},{n * n % 17 / 3},{n % 23 - 9.5},{n % 7 / 3}"
        for n in range(60)
    ]
    file.write_text("\n".join(["key,city,day,holes,price,change,Usage", *rows]) + "\n")
    return file


@pytest.fixture
def new(tmp_path: Path) -> Callable[..., Done]:
    def run(*words: object) -> Done:
        return run_podium(
            ["new", *map(str, words)],
            cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip

    return run


def test_the_command_makes_and_checks_a_folder(
    new: Callable[..., Done], table: Path, tmp_path: Path
) -> None:
    by_time = new(
        "prices", "--data", table, "--target", "price", "--id", "key", "--time", "day",
        "--metric", "mean_absolute_error", "--title", "Prices | 2024", "--json",
    )  # fmt: skip

    assert by_time.returncode == 0, by_time.stderr
    said = json.loads(by_time.stdout)
    assert (said["metric"], said["kind"], said["split"]) == (
        "mean_absolute_error",
        "number",
        "time",
    )
    assert (said["train_rows"], said["public_rows"], said["private_rows"]) == (48, 4, 8)
    assert said["problems"] == []
    answers = pd.read_csv(tmp_path / "prices" / "private" / "answers.csv")
    days = answers["key"].str[1:].astype(int)
    assert days[answers["Usage"] == "Public"].max() < days[answers["Usage"] == "Private"].min()
    assert "empty in" in (tmp_path / "prices" / "description.md").read_text()
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("name", "target", "more", "words"),
    [
        ("x", "prize", {}, "--target: there is no column 'prize'; the columns are key, city"),
        ("x y", "price", {}, "'x y' is not the name of a competition"),
        ("there", "price", {}, "exists already"),
        ("x", "price", {"how": "time", "by": "key"}, "is not a time in row 1"),
        ("x", "price", {"id": "city"}, "the column 'city' repeats a value"),
        ("x", "holes", {}, "is empty in 53 rows"),
        ("x", "key", {"id": "key"}, "--id and --target both name 'key'"),
        (
            "x",
            "price",
            {"how": "time", "by": "price"},
            "--time and --target both name 'price': name two columns.",
        ),
        (
            "x",
            "city",
            {"how": "group", "by": "city"},
            "--group and --target both name 'city': name two columns.",
        ),
        ("x", "price", {"how": "group", "by": "holes"}, "'holes' is empty in 53 rows, first in"),
        (
            "x",
            "change",
            {"metric": "root_mean_squared_log_error"},
            "root_mean_squared_log_error is defined from 0 up, and the target 'change' is -",
        ),
        ("x", "price", {"metric": "argmax_accuracy_score"}, "picks a column: declare one for each"),
        ("x", "Usage", {}, "a column may not be called Usage"),
        ("x", "price", {"test_share": 0.01}, "A random split of 1 rows is not possible"),
    ],
)
def test_wrong_choices_are_sentences_and_leave_nothing(
    table: Path, tmp_path: Path, name: str, target: str, more: dict[str, object], words: str
) -> None:
    (tmp_path / "there").mkdir()

    with pytest.raises(PodiumError, match=re.escape(words)):
        made(tmp_path / name, table, target, **more)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["table.csv", "there"]


def test_a_leaderboard_is_taken_and_checked(
    new: Callable[..., Done], table: Path, tmp_path: Path
) -> None:
    board = tmp_path / "board.csv"
    board.write_text("team,score\n" + "".join(f"t{n},{n}.5\n" for n in range(10)))
    options = ("--data", table, "--target", "price", "--no-baseline", "--leaderboard", board)
    made = new("prices", *options)
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "prices" / "leaderboard.csv").read_bytes() == board.read_bytes()

    board.write_text("team,score\nt1,best\n")
    wrong = new("others", *options)
    assert wrong.returncode == 1
    assert "leaderboard.csv" in wrong.stderr


def test_the_command_says_what_is_wrong(new: Callable[..., Done], tmp_path: Path) -> None:
    twice = new("x", "--data", "none.csv", "--target", "y", "--group", "a", "--random")
    nothing = new("x", "--data", "none.csv", "--target", "y")

    assert (twice.returncode, nothing.returncode) == (1, 1)
    assert "Name one of --group, --time and --random" in " ".join(twice.stderr.split())
    assert "none.csv is not a file" in " ".join(nothing.stderr.split())
    assert list(tmp_path.iterdir()) == []


def test_a_cell_or_a_name_with_a_return_stays_one_cell(tmp_path: Path) -> None:
    table = pd.DataFrame({"x\r": ["a\rb", "", 'c"\r\n'] * 20, "y\x7f\r": map(str, range(60))})
    data = tmp_path / "t.csv"
    data.write_text(
        '"x\r","y\x7f\r"\n'
        + "".join('"' + x.replace('"', '""') + f'",{y}\n' for x, y in table.to_numpy()),
        newline="",
    )

    competition = made(tmp_path / "own", data, "y\x7f\r", with_baseline=True)

    assert competition.baseline_score is not None
    parts = [read_table(competition.folder / "public" / name) for name in ("train.csv", "test.csv")]
    rows = pd.concat(parts)["x\r"]
    assert rows.value_counts().to_dict() == {"a\rb": 20, "": 20, 'c"\r\n': 20}
    toml = tomllib.loads((competition.folder / "competition.toml").read_text())
    assert list(toml["submission"]["columns"]) == ["y\x7f\r"]
