from __future__ import annotations

import pytest
from sqlalchemy.exc import IntegrityError

from app.storage.queries import experiments
from app.storage.queries.overview.experiments import list_experiments
from tests.storage.make import make_experiment


def add(database, name, **over):
    made = make_experiment(name, **over)
    return database.write(lambda s: experiments.add(s, made))


def test_an_experiment_comes_back_as_it_was_stored(database):
    made = add(database, "aide", notes="ünïcode\n", resources={"hours": 24, "internet": False})

    with database.read() as session:
        assert experiments.get(session, "aide") == made


def test_resources_may_be_unsaid(database):
    add(database, "aide")

    with database.read() as session:
        assert experiments.get(session, "aide").resources is None


def test_an_unknown_name_finds_nothing(database):
    with database.read() as session:
        assert experiments.get(session, "aide") is None


def test_a_name_is_used_once(database):
    add(database, "aide")

    with pytest.raises(IntegrityError):
        add(database, "aide", model="other")


def test_pages_are_in_the_order_of_bytes_and_follow_each_other(database):
    for name in ("a_c", "aB", "Z", "a-b", "ab"):
        add(database, name)

    with database.read() as session:
        first = experiments.list_page(session, limit=3)
        rest = experiments.list_page(session, after=first[-1].name, limit=3)

    assert [e.name for e in first] == ["Z", "a-b", "aB"]
    assert [e.name for e in rest] == ["a_c", "ab"]


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        ("Äpfel gpt", ["Äpfel GPT"]),
        ("äpf", ["Äpfel GPT"]),
        ("АГЕНТ", ["Агент", "агент 2"]),
        ("агент", ["Агент", "агент 2"]),
        ("İ", ["İzmir"]),
        ("A_B", ["100% a_b"]),
        ("%", ["100% a_b"]),
        ("a-model", ["x"]),
    ],
)
def test_experiments_are_found_by_words_in_any_case(database, q, expected):
    for name in ("Äpfel GPT", "Агент", "агент 2", "İzmir", "100% a_b"):
        add(database, name, model="m")
    add(database, "x", model="A-Model")

    with database.read() as session:
        found, total = list_experiments(session, q=q, sort="name", descending=False, limit=9)

    assert [one.experiment.name for one in found] == expected
    assert total == len(expected)
