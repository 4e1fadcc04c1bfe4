"""The results of closed runs in brief: their outcomes, policies and failures as numbers."""

from __future__ import annotations

from typing import Any

import pytest

from app.domain.feedback import Feedback
from app.domain.states import Failure, RunState, SubmissionState
from app.statistics.attempt_columns import ABOVE_MEDIAN, MADE, MEDALS, ONE_MEDAL, VALID
from app.storage.queries import runs
from app.storage.queries.brief_results import GradedRuns, settled_results
from app.storage.queries.result_state import result_state
from tests.storage.make import (
    NOON,
    World,
    add_grade,
    add_run,
    add_submission,
    add_version,
    make_grade,
    make_submission,
)

OUTCOMES = [
    (None, None, MADE + VALID), (None, False, MADE + VALID),
    (None, True, MADE + VALID + ABOVE_MEDIAN),
    *((medal, True, MADE + VALID + ABOVE_MEDIAN + at * ONE_MEDAL)
      for at, medal in enumerate(MEDALS) if medal is not None),
]  # fmt: skip


def closed_run(world: World, experiment: str, seed: int, *, run: Any = None, **grade: Any) -> str:
    """Store a closed run with a graded file, and return the file's id."""
    added = add_run(world.database, world.version, experiment, seed=seed, **(run or {}))
    sent = make_submission(added, state=SubmissionState.GRADED, settled_at=NOON)
    world.database.write(lambda s: add_submission(s, sent))
    world.database.write(lambda s: add_grade(s, make_grade(sent, **grade)))
    closed = {"state": RunState.CLOSED, "closed_at": NOON}
    world.database.write(lambda s: runs.update_run(s, added.id, **closed))
    return sent.id


def graded(world: World, experiment: str) -> GradedRuns:
    with world.database.read() as session:
        state = result_state(session)
        (found,) = settled_results(session, [experiment], state, archived=False)
    assert isinstance(found, GradedRuns)
    return found


def test_an_outcome_is_made_valid_above_the_median_and_a_medal(world: World) -> None:
    for seed, (medal, above, _) in enumerate(OUTCOMES):
        closed_run(world, "graded", seed, medal=medal, above_median=above)
    found = graded(world, "graded").attempts
    kinds = dict(zip(found.seeds, found.outcomes, strict=True))
    assert kinds == {seed: kind for seed, (_, _, kind) in enumerate(OUTCOMES)}
    assert set(found.competitions) == {"bikes"}


def test_runs_are_counted_by_policy_and_by_failure(world: World) -> None:
    pairs = [
        (feedback, failure) for feedback in Feedback for failure in (None, *list(Failure)[:2])
    ] + [(Feedback.FULL, failure) for failure in Failure]
    for seed, (feedback, failure) in enumerate(pairs):
        changes = {"feedback": feedback, "failure": failure}
        closed_run(world, "counted", seed, run=changes)
    found = graded(world, "counted")
    policies = [feedback.value for feedback, _ in pairs]
    failures = [failure.value if failure else "none" for _, failure in pairs]
    assert found.policies == {name: policies.count(name) for name in set(policies)}
    assert found.failures == {name: failures.count(name) for name in set(failures)}


@pytest.mark.parametrize("chosen", [False, True])
def test_a_run_counts_once_by_its_last_graded_file_or_the_chosen_one_under_its_own_version(
    world: World, chosen: bool
) -> None:
    first = closed_run(world, "once", 1, medal="gold", above_median=True)
    with world.database.read() as session:
        run = runs.find_run(session, "once", "bikes", 1)
    assert run is not None
    later = make_submission(run, state=SubmissionState.GRADED, settled_at=NOON)
    world.database.write(lambda s: add_submission(s, later))
    world.database.write(lambda s: add_grade(s, make_grade(later, above_median=False)))
    other = world.database.write(lambda s: add_version(s, "bikes", number=2))
    for sent in (first, later.id):
        grade = make_grade(later, submission_id=sent, version_id=other.id, medal="silver")
        world.database.write(lambda s, grade=grade: add_grade(s, grade))
    if chosen:
        world.database.write(lambda s: runs.update_run(s, run.id, selected_id=first))

    found = graded(world, "once")
    gold = MADE + VALID + ABOVE_MEDIAN + ONE_MEDAL
    assert (found.attempts.seeds, found.versions) == ([1], {world.version.id})
    assert found.attempts.outcomes == [gold if chosen else MADE + VALID]
