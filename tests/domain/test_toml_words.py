"""Mistakes in a competition.toml, in the words of somebody who writes one."""

from __future__ import annotations

import pytest

from app.domain.competition import parse_competition
from app.domain.metric_aliases import ALIASES, metric_of
from app.errors import BadCompetition
from app.metrics.registry import METRICS

GOOD = """
title = "Bikes"
version = 1
[metric]
name = "root_mean_squared_error"
[submission]
id = "id"
[submission.columns]
count = { kind = "number" }
[leaderboard]
source = "kaggle:bikes"
captured_at = 2024-08-01
"""


def refusal(old: str, new: str, slug: str = "bikes") -> tuple[str, str]:
    assert old in GOOD
    with pytest.raises(BadCompetition) as refused:
        parse_competition(slug, GOOD.replace(old, new))
    (problem,) = refused.value.problems
    return problem["key"], problem["message"]


@pytest.mark.parametrize(
    ("old", "new", "key", "said"),
    [
        ("version = 1", 'version = "1"', "version", "expected a whole number, without quotes"),
        ("version = 1", "version = 0", "version", "expected a number at least 1, not 0"),
        ('"Bikes"', "3", "title", "expected text in quotes, not 3"),
        ("version = 1", 'version = 1\nauthor = "x"', "author", "known: title, version"),
        ("version = 1", 'version = 1\ncategry = "x"', "categry", "did you mean category?"),
        ("captured_at", "captured", "leaderboard.captured", "did you mean captured_at?"),
        ('"number"', '"float"', "submission.columns.count", "'float' is not one of 'number'"),
        ('{ kind = "number" }', "{ min = 0 }", "submission.columns.count", "a table with a kind"),
        (
            '[metric]\nname = "root_mean_squared_error"', 'metric = "max_error"', "metric",
            "expected a table, as { key = value }, not 'max_error'",
        ),
        (
            '[submission.columns]\ncount = { kind = "number" }', 'columns = ["count"]',
            "submission.columns", 'as: [submission.columns] count = { kind = "number" }',
        ),
        ("2024-08-01", '"soon"', "leaderboard.captured_at", "expected a date, as 2024-08-01"),
        ("root_mean_squared_error", "rmse", "metric.name", "named root_mean_squared_error here"),
        ("root_mean_squared_error", "fitness", "metric.name", "does not tell its direction"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_in_the_words_of_the_file(
    old: str, new: str, key: str, said: str
) -> None:
    where, message = refusal(old, new)

    assert where == key
    assert said in message
    for word in ("Input", "should be", "valid integer", "discriminator"):
        assert word not in message


def test_a_folders_name_is_blamed_on_the_folder() -> None:
    with pytest.raises(BadCompetition) as refused:
        parse_competition("01_wrong", GOOD)

    (problem,) = refused.value.problems
    assert (problem["file"], problem["key"]) == ("", "")
    assert problem["message"].startswith("the folder's name '01_wrong' cannot be a slug")


def test_every_alias_is_of_a_metric_and_no_metric_is_an_alias() -> None:
    assert set(ALIASES.values()) <= set(METRICS)
    assert [name for name in METRICS if metric_of(name) not in (None, name)] == []
