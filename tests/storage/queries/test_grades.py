from __future__ import annotations

import math

import pytest
from sqlalchemy.exc import IntegrityError

from app.storage.queries import grades
from tests.storage.make import add_grade, add_version, make_grade


def add(world, grade):
    return world.database.write(lambda s: add_grade(s, grade))


def test_a_grade_comes_back_as_it_was_stored(world):
    made = world.submit()
    stored = add(
        world,
        make_grade(
            made, public_score=-0.25, better=3, equal=1, worse=6, teams=10, percentile=70.0,
            above_median=True, medal="gold", grader={"metric": "m", "environment": {"numpy": "2"}},
        ),
    )  # fmt: skip

    with world.database.read() as session:
        assert grades.grades_of(session, made.id) == [stored]
    assert isinstance(stored.id, int)
    assert stored.above_median is True


@pytest.mark.parametrize(
    "score", [0.1 + 0.2, 1e-320, 5e-324, 1.7976931348623157e308, math.pi, -1 / 3, 3.0]
)
def test_scores_are_exact(world, score):
    stored = add(world, make_grade(world.submit(), score=score, public_score=-score))

    assert stored.score.hex() == score.hex()
    assert stored.public_score.hex() == (-score).hex()


def test_what_is_unknown_stays_none(world):
    stored = add(world, make_grade(world.submit()))

    assert {stored.public_score, stored.better, stored.above_median, stored.medal} == {None}


def test_there_is_one_grade_per_submission_and_version(world):
    made = world.submit()
    first = add(world, make_grade(made, score=0.5))

    assert add(world, make_grade(made, score=0.7)) == first
    with world.database.read() as session:
        assert grades.grades_of(session, made.id) == [first]


def test_a_new_version_adds_a_grade_and_keeps_the_old(world):
    made = world.submit()
    newer = world.database.write(lambda s: add_version(s, "bikes", number=2))
    second = add(world, make_grade(made, version_id=newer.id))
    first = add(world, make_grade(made))
    add(world, make_grade(world.submit()))

    with world.database.read() as session:
        assert grades.grades_of(session, made.id) == [first, second]


def test_a_grade_needs_its_submission(world):
    with pytest.raises(IntegrityError):
        add(world, make_grade(world.submit(), submission_id="sub_none"))
