"""competition.toml: what is read from a good one, and what is said about every mistake."""

import datetime as dt

import pytest

from app.domain.competition import parse_competition
from app.domain.medals import MedalRule
from app.errors import BadCompetition

BIKE = """
title = "Bike Sharing Demand"
version = 1
[metric]
name = "root_mean_squared_log_error"
[submission]
id = "datetime"
[submission.columns]
count = { kind = "number", min = 0 }
"""
BOARD = """
[leaderboard]
source = "kaggle:bike-sharing-demand"
captured_at = 2024-08-01
teams = 3242
gold = 0.36367
silver = 0.39010
bronze = 0.40856
median = 0.49644
"""


def problems_of(text, slug="bike"):
    with pytest.raises(BadCompetition) as caught:
        parse_competition(slug, text)
    assert all(problem["file"] == "competition.toml" for problem in caught.value.problems)
    return [(problem["key"], problem["message"]) for problem in caught.value.problems]


def with_column(column):
    return BIKE.replace('count = { kind = "number", min = 0 }', column)


@pytest.mark.parametrize("begin", ["", "\ufeff"], ids=["plain", "byte order mark"])
def test_it_reads_a_small_competition(begin):
    competition = parse_competition("bike", begin + BIKE)

    assert competition.slug == "bike"
    assert competition.submission.id == ("datetime",)
    assert competition.submission.columns["count"].min == 0
    assert competition.metric.higher_is_better is False
    assert competition.answers.file == "answers.csv"
    assert competition.leaderboard is None
    assert competition.flags == ()


def test_it_reads_everything_that_may_be_said():
    competition = parse_competition(
        "bike",
        'category = "Tabular"\ncomplexity = "low"\ntags = ["a", "b"]\n'
        + BIKE.replace('id = "datetime"', 'id = ["day", "hour"]').replace(
            "[submission]", "parameters = { k = 5 }\n[submission]"
        )
        + BOARD
        + 'awards_medals = false\nrule = "kaggle"\n[answers]\nfile = "a.csv"\n'
        + '[baseline]\nscore = 0.7\nsource = "ten runs"\nsuccess_threshold = 0.2\n'
        + '[[flags]]\ncode = "small"\nnote = "n"\n',
    )

    board = competition.leaderboard
    assert (competition.category, competition.complexity) == ("Tabular", "low")
    assert competition.tags == ("a", "b")
    assert competition.submission.id == ("day", "hour")
    assert competition.metric.parameters == {"k": 5}
    assert (board.teams, board.gold, board.median) == (3242, 0.36367, 0.49644)
    assert board.captured_at == dt.date(2024, 8, 1)
    assert (board.awards_medals, board.rule) == (False, MedalRule.KAGGLE)
    assert competition.answers.file == "a.csv"
    assert competition.baseline.success_threshold == 0.2
    assert competition.flags[0].code == "small"


@pytest.mark.parametrize(
    "column",
    [
        'x = { kind = "number" }',
        'x = { kind = "number", min = -1, max = 1.5 }',
        'x = { kind = "probability" }',
        'x = { kind = "integer", min = 0, max = 4 }',
        'x = { kind = "number", min = 1, max = 1 }',
        'x = { kind = "boolean" }',
        'x = { kind = "label" }',
        'x = { kind = "label", labels = ["a", "b"] }',
        'x = { kind = "text", allow_empty = true, max_length = 10 }',
        'x = { kind = "list", separator = "|", min_items = 1, max_items = 5, distinct = true }',
        'x = { kind = "list", labels = ["a", "b"], min_items = 1, max_items = 1 }',
        'x = { kind = "list", items = "integer", min = 0, max = 5 }',
        'x = { kind = "boxes", fields = ["c", "p"], label = "c", labels = ["1"] }',
        'x = { kind = "mask", height = 1, width = 1, start = 1 }',
        'x = { kind = "mask", height = 3, width = 4, order = "row", start = 0, empty = "-1" }',
        'x = { kind = "mask", height = "h", width = "w" }',
        'x = { kind = "boxes", fields = ["x", "y"], max_boxes = 2, allow_empty = false }',
    ],
)
def test_it_reads_every_kind_of_column(column):
    competition = parse_competition("bike", with_column(column))

    assert list(competition.submission.columns) == ["x"]


def test_it_takes_rows_sum_to_one_among_the_columns():
    competition = parse_competition(
        "bike", with_column('a = { kind = "probability" }\nrows_sum_to_one = true')
    )

    assert competition.submission.rows_sum_to_one is True
    assert competition.submission.probability_columns == ("a",)


@pytest.mark.parametrize("key", ["title", "version", "metric", "submission"])
def test_a_key_that_is_missing_is_named(key):
    text = {
        "title": BIKE.replace("title =", "# title ="),
        "version": BIKE.replace("version =", "# version ="),
        "metric": BIKE.replace("[metric]\n", "").replace('name = "root', '# name = "root'),
        "submission": BIKE[: BIKE.index("[submission]")],
    }[key]

    assert problems_of(text) == [(key, "this key is required")]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('colour = "red"\n' + BIKE, "colour"),
        (BIKE.replace("[submission]", 'direction = "up"\n[submission]'), "metric.direction"),
        (BIKE.replace("[submission.columns]", "rows = 5\n[submission.columns]"), "submission.rows"),
        (BIKE + BOARD + "platinum = 1\n", "leaderboard.platinum"),
        (BIKE + '[[flags]]\ncode = "a"\nnote = "b"\nseverity = 1\n', "flags.0.severity"),
        (BIKE + '[answers]\nfile = "a.csv"\ncolumn = "x"\n', "answers.column"),
        (with_column('x = { kind = "number", step = 1 }'), "submission.columns.x.step"),
        (with_column('x = { kind = "boolean", min = 0 }'), "submission.columns.x.min"),
        (with_column('x = { kind = "probability", max = 2 }'), "submission.columns.x.max"),
        (with_column('number = { kind = "text", min = 2 }'), "submission.columns.number.min"),
    ],
)
def test_an_unknown_key_is_named(text, key):
    ((found, message),) = problems_of(text)

    assert found == key
    assert message.startswith("unknown key")


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        (BIKE.replace('"Bike Sharing Demand"', '"  "'), "title", "text that is not empty"),
        (BIKE.replace('"Bike Sharing Demand"', "5"), "title", "text in quotes"),
        (BIKE.replace("version = 1", "version = 0"), "version", "at least 1, not 0"),
        (BIKE.replace("version = 1", 'version = "one"'), "version", "a whole number"),
        ('complexity = "hard"\n' + BIKE, "complexity", "'low', 'medium' or 'high'"),
        ("tags = [1]\n" + BIKE, "tags.0", "text in quotes"),
        (BIKE.replace("root_mean_squared_log_error", "RMSLE!"), "metric.name", "a letter, not"),
        (BIKE.replace('id = "datetime"', "id = []"), "submission", "at least one column"),
        (BIKE.replace('id = "datetime"', 'id = ["a", "a"]'), "submission", "names a column twice"),
        (BIKE.replace('id = "datetime"', "id = 5"), "submission.id", "expected a list"),
        (BIKE.replace('id = "datetime"', 'id = "count"'), "submission", "both an id and a pred"),
        (BIKE.replace('id = "datetime"', 'id = "Usage"'), "submission", "may not be called Usage"),
        (with_column('Usage = { kind = "text" }'), "submission", "may not be called Usage"),
        (with_column('"" = { kind = "text" }'), "submission", "needs a name"),
        (with_column(""), "submission.columns", "at least 1 item"),
        (with_column("x = 5"), "submission.columns.x", ""),
        (with_column("x = {}"), "submission.columns.x", "kind"),
        (with_column('x = { kind = "float" }'), "submission.columns.x", "'number', 'probability'"),
        (with_column('x = { kind = "number", min = 2, max = 1 }'), "submission.columns.x", "min 2"),
        (with_column('x = { kind = "number", min = nan }'), "submission.columns.x.min", "finite"),
        (with_column('x = { kind = "number", max = inf }'), "submission.columns.x.max", "finite"),
        (
            with_column('x = { kind = "integer", min = 0.5 }'),
            "submission.columns.x.min",
            "a whole number",
        ),
        (with_column('x = { kind = "label", labels = [] }'), "submission.columns.x", "one label"),
        (
            with_column('x = { kind = "label", labels = ["a", "a"] }'),
            "submission.columns.x",
            "repeat",
        ),
        (
            with_column('x = { kind = "list", separator = "" }'),
            "submission.columns.x.separator",
            "not empty",
        ),
        (
            with_column('x = { kind = "list", items = "integer", labels = ["1"] }'),
            "submission.columns.x",
            "either integers or labels",
        ),
        (
            with_column('x = { kind = "list", min = 1 }'),
            "submission.columns.x",
            "items = 'integer'",
        ),
        (
            with_column('x = { kind = "list", items = "text", max = 5 }'),
            "submission.columns.x",
            "min and max need items = 'integer'",
        ),
        (
            with_column('x = { kind = "mask", height = 5, width = "w" }'),
            "submission.columns.x",
            "two numbers or two columns of the answers",
        ),
        (
            with_column('x = { kind = "boxes", fields = ["x"], label = "c", labels = ["1"] }'),
            "submission.columns.x",
            "'c' is not among the fields",
        ),
        (BIKE.replace('"Bike Sharing Demand"', '"\\u0000"'), "", "the character NUL"),
        (
            with_column('x = { kind = "list", min_items = 3, max_items = 2 }'),
            "submission.columns.x",
            "min_items is larger",
        ),
        (with_column('x = { kind = "mask", height = 5 }'), "submission.columns.x.width", "requir"),
        (
            with_column('x = { kind = "mask", height = 0, width = 5 }'),
            "submission.columns.x.height",
            "greater",
        ),
        (
            with_column('x = { kind = "mask", height = 1, width = 5, start = 2 }'),
            "submission.columns.x.start",
            "0 or 1",
        ),
        (with_column('x = { kind = "boxes", fields = [] }'), "submission.columns.x.fields", "1"),
        (
            with_column('x = { kind = "boxes", fields = ["x"], positive = ["y"] }'),
            "submission.columns.x",
            "'y' is not among the fields",
        ),
        (
            with_column('x = { kind = "text" }\nrows_sum_to_one = true'),
            "submission",
            "kind probability",
        ),
        (BIKE + '[answers]\nfile = "../a.csv"\n', "answers.file", "plain file name"),
        (BIKE + '[answers]\nfile = ".a"\n', "answers.file", "plain file name"),
        (BIKE + BOARD.replace("teams = 3242", "teams = 0"), "leaderboard.teams", "at least 1"),
        (BIKE + BOARD.replace("gold = 0.36367", "gold = nan"), "leaderboard.gold", "finite"),
        (BIKE + BOARD.replace("gold = 0.36367", 'gold = "x"'), "leaderboard.gold", "number"),
        (BIKE + BOARD.replace("teams = 3242", ""), "leaderboard", "teams is needed with the medal"),
        (
            BIKE + BOARD.replace("gold = 0.36367", "gold = 0.5"),
            "leaderboard",
            "gold = 0.5 is worse than silver = 0.3901, but for root_mean_squared_log_error",
        ),
        (BIKE + BOARD.replace("2024-08-01", '"last year"'), "leaderboard.captured_at", "date"),
        (BIKE + '[leaderboard]\nrule = "olympic"\nsource = "x"\n', "leaderboard.rule", "kaggle"),
        (BIKE + "[leaderboard]\nteams = 5\n", "leaderboard.source", "required"),
        (BIKE + '[baseline]\nscore = inf\nsource = "x"\n', "baseline.score", "finite"),
        (
            BIKE + '[baseline]\nscore = 1\nsource = "x"\nsuccess_threshold = -1\n',
            "baseline.success_threshold",
            "greater",
        ),
        (BIKE + '[[flags]]\ncode = "Bad Code"\nnote = "x"\n', "flags.0.code", "a letter, not"),
        (BIKE + '[[flags]]\ncode = "a"\nnote = ""\n', "flags.0.note", "not empty"),
        (BIKE + '[[flags]]\ncode = "a"\nnote = "b"\n' * 2, "flags", "a flag is stated twice"),
        # Thousands of them made a result of one experiment take a minute and gigabytes.
        (
            BIKE + '[[flags]]\ncode = "a"\nnote = "b"\n' * 101,
            "flags",
            "at most 100 of them, not 101",
        ),
        ("tags = [" + '"a", ' * 101 + "]\n" + BIKE, "tags", "at most 100 of them, not 101"),
        (
            BIKE + f'[[flags]]\ncode = "{"a" * 101}"\nnote = "b"\n',
            "flags.0.code",
            "at most 100 characters, not 101",
        ),
        (
            BIKE + f'[[flags]]\ncode = "a"\nnote = "{"b" * 10_001}"\n',
            "flags.0.note",
            "at most 10000 characters, not 10001",
        ),
        (BIKE.replace("version = 1", "version = 1.0"), "version", "a whole number"),
        (BIKE.replace("version = 1", 'version = "1"'), "version", "a whole number"),
        (BIKE.replace("version = 1", "version = true"), "version", "a whole number"),
        (BIKE + BOARD.replace("3242", '"3242"'), "leaderboard.teams", "a whole number"),
        (BIKE + BOARD.replace("0.49644", '"0.49644"'), "leaderboard.median", "number"),
        (BIKE + BOARD + "awards_medals = 1\n", "leaderboard.awards_medals", "true or false"),
        (with_column('x = { kind = "number", min = "0" }'), "submission.columns.x.min", "number"),
        (with_column('x = { kind = "number", min = true }'), "submission.columns.x.min", "number"),
        (
            with_column('x = { kind = "probability" }\nrows_sum_to_one = 1'),
            "submission.columns.rows_sum_to_one",
            "",
        ),
        (BIKE.replace("version = 1", f"version = {'9' * 5000}"), "", "not valid TOML"),
        (BIKE.replace("version = 1", f"version = 0x{'f' * 5000}"), "", "not valid TOML"),
        ("x = " + "[" * 100_000, "", "nested 8 deep"),
        ('slug = "bike"\n' + BIKE, "slug", "the folder's name is the slug; remove this"),
        ("title = ", "", "not valid TOML"),
        ("a = 1\na = 2", "", "not valid TOML"),
    ],
)
def test_a_mistake_is_told_with_its_key_and_reason(text, key, words):
    ((found, message),) = problems_of(text)

    assert found == key
    assert words in message


@pytest.mark.parametrize("name", ["fitness", "quality", "score_of_mine"])
def test_a_metric_whose_name_tells_no_direction_is_refused(name):
    ((key, message),) = problems_of(BIKE.replace("root_mean_squared_log_error", name))

    assert key == "metric.name"
    assert message == (
        f"{name!r} is no built-in metric, and for one of your own it does not tell its direction: "
        "end it in _score (higher is better), or in _error or _loss (lower is better)"
    )


@pytest.mark.parametrize("slug", ["", "a b", "../a", "-a", "ä", "a" * 101, "a_b", "a\n"])
def test_a_name_that_is_no_slug_is_refused(slug):
    with pytest.raises(BadCompetition) as refused:
        parse_competition(slug, BIKE)

    (problem,) = refused.value.problems
    assert (problem["file"], problem["key"]) == ("", "")  # the toml is not at fault
    assert "the folder's name" in problem["message"]


def test_all_mistakes_are_told_at_once():
    text = BIKE.replace("version = 1", "version = 0") + "[leaderboard]\nbrass = 1\n"

    assert [key for key, _ in problems_of(text)] == [
        "version",
        "leaderboard.source",
        "leaderboard.brass",
    ]


def test_the_error_says_file_key_and_message_in_one_line():
    with pytest.raises(
        BadCompetition, match=r"^competition\.toml: colour: unknown key; known: title, "
    ):
        parse_competition("bike", "colour = 1\n" + BIKE)


def test_a_competition_cannot_be_changed():
    competition = parse_competition("bike", BIKE)

    with pytest.raises(ValueError, match="frozen"):
        competition.title = "Another"


@pytest.mark.parametrize(
    ("metric", "lines"),
    [
        ("accuracy_score", "gold = 1.0\nsilver = 1.0\nbronze = 1.0\nmedian = 0.9991"),
        ("champs_loss", "gold = -2.87509\nsilver = -2.03119\nbronze = -1.90122\nmedian = -0.9529"),
        ("osic_score", "gold = -6.8412\nsilver = -6.8533\nbronze = -6.8683\nmedian = -6.8993"),
        ("log_loss", "bronze = 0.5"),
    ],
)
def test_equal_negative_and_partial_lines_are_taken(metric, lines):
    text = BIKE.replace("root_mean_squared_log_error", metric)
    text += f'[leaderboard]\nsource = "x"\nteams = 1221\n{lines}\n'

    assert parse_competition("bike", text).leaderboard.teams == 1221
