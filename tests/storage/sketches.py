"""Graded submissions with sketches, for tests of what is compared with what."""

from __future__ import annotations

import numpy as np

from app.grading.graded import Sketch
from app.storage.queries.reviews import sketches
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
