"""Which of two alike files is the copy: the one that was graded later, on both databases."""

from __future__ import annotations

import numpy as np
import pytest

from app.grading.graded import Sketch
from app.review.likeness import cells_of
from app.services.reviews import near_files
from app.services.reviews.near_files import NearFiles
from app.storage.queries.reviews import sketches
from app.storage.queries.reviews.sketches import GradedFile
from tests.storage.make import (
    World,
    add_grade,
    add_run,
    add_submission,
    make_grade,
    make_submission,
)

CELLS = np.random.default_rng(3).lognormal(3.0, 1.0, 64).astype("<f4")


def sketch(share: float = 0.0) -> Sketch:
    return Sketch(1000, bytes(256), (CELLS * np.float32(1.0 + share)).astype("<f4").tobytes())


def graded(world: World, experiment: str, *made: Sketch) -> list[str]:
    """Submissions of an experiment with these sketches, graded in the opposite order."""
    run = add_run(world.database, world.version, experiment)
    ids = []
    for _ in made:
        one = world.database.write(lambda s: add_submission(s, make_submission(run)))
        world.database.write(lambda s, one=one: add_grade(s, make_grade(one)))
        ids.append(one.id)
    for one, each in zip(ids[::-1], made[::-1], strict=True):
        add = [(one, world.version.id, each)]
        world.database.write(lambda s, add=add: sketches.add_all(s, add))
    return ids


def waiting(world: World) -> list[GradedFile]:
    with world.database.read() as session:
        return sketches.not_reviewed(session, 100)


def test_of_two_equal_files_the_one_graded_later_is_the_copy(world: World) -> None:
    early = world.database.write(lambda s: add_submission(s, make_submission(world.run)))
    world.database.write(lambda s: add_grade(s, make_grade(early)))
    (late,) = graded(world, "another", sketch())  # sent after `early`, and graded before it
    world.database.write(lambda s: sketches.add_all(s, [(early.id, world.version.id, sketch())]))

    found = {}
    with world.database.read() as session:
        for one in waiting(world):
            same = sketches.with_same_predictions(session, one, 10)
            found[one.submission] = [each.submission for each in same]

    assert early.id < late
    assert found == {late: [], early.id: [late]}


@pytest.mark.parametrize("at_once", [1, 2, 100])
def test_near_files_are_found_however_many_are_read_at_once(
    world: World, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(near_files, "FILES_PER_QUERY", at_once)
    first = graded(world, "one", sketch(), sketch(0.5), sketch(0.9))
    second = graded(world, "two", sketch(1e-4), sketch(7.0))
    near = NearFiles()

    found = {}
    with world.database.read() as session:
        for one in waiting(world):
            cells = cells_of(one.sketch)
            assert cells is not None
            nearest = near.nearest(session, one, cells)
            found[one.submission] = nearest and nearest.file.submission

    assert found == {**dict.fromkeys([*first, second[1]]), second[0]: first[0]}
