from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy.exc import IntegrityError

from app.domain.states import ReportedScoreKind
from app.storage.queries import results
from app.storage.queries.elsewhere import imported_runs, reported_scores
from app.storage.queries.elsewhere.imported_runs import ImportedRunRecord
from app.storage.queries.elsewhere.reported_scores import ReportedScoreRecord
from tests.storage.make import NOON

EVIDENCE = {"file": "result.csv", "hardware": {"gpus": 1}}


def make_score(run, **over):
    fields = {
        "run_id": run.id, "kind": ReportedScoreKind.REPORTED, "score": 0.1 + 0.2, "final": True,
        "evidence": EVIDENCE, "reported_at": NOON,
    }  # fmt: skip
    return ReportedScoreRecord(**{**fields, **over})


def brief(score):
    """The score as results read it: a run's evidence may be hundreds of megabytes."""
    return replace(score, evidence={})


def add(world, *scores):
    return [world.database.write(lambda s, one=one: reported_scores.add(s, one)) for one in scores]


def test_a_score_comes_back_as_it_was_reported(world):
    (stored,) = add(world, make_score(world.run, step=3, run_seconds=12.5))

    with world.database.read() as session:
        assert reported_scores.page(session, world.run.id, limit=9) == [stored]
        assert reported_scores.of_run(session, world.run.id) == [brief(stored)]
        assert reported_scores.of_run(session, world.other_run.id) == []
    assert stored.id is not None
    assert stored.score.hex() == (0.1 + 0.2).hex()
    assert (stored.kind, stored.step, stored.run_seconds) == (ReportedScoreKind.REPORTED, 3, 12.5)
    assert stored.evidence == EVIDENCE
    assert stored.reported_at == NOON


def test_scores_keep_their_order_and_the_last_final_one_counts(world):
    finals = [False, True, True, False]
    scores = [make_score(world.run, score=float(n), final=f) for n, f in enumerate(finals)]
    world.database.write(lambda s: reported_scores.add_all(s, scores))
    add(world, make_score(world.other_run))

    with world.database.read() as session:
        found = reported_scores.of_run(session, world.run.id)
        first = reported_scores.page(session, world.run.id, limit=3)
        rest = reported_scores.page(session, world.run.id, after=first[-1].id, limit=3)
        counts = reported_scores.counts(session, [world.run.id, world.other_run.id, "run_none"])
    assert [each.score for each in found] == [0.0, 1.0, 2.0, 3.0]
    assert [brief(each) for each in (*first, *rest)] == found
    assert reported_scores.final_of(found).score == 2.0
    assert reported_scores.final_of(found[:1]) is None
    assert counts == {world.run.id: 4, world.other_run.id: 1}


def test_scores_of_an_experiment_and_of_a_competition(world):
    mine, other = add(world, make_score(world.run), make_score(world.other_run))

    with world.database.read() as session:
        assert reported_scores.of_runs_in(session, experiment="first") == {
            world.run.id: [brief(mine)]
        }
        assert reported_scores.of_runs_in(session, competition="leaves") == {
            world.other_run.id: [brief(other)]
        }


def test_a_score_that_was_reported_before_is_found(world):
    first, _, other = add(
        world, make_score(world.run, step=3), make_score(world.run, step=3),
        make_score(world.run, evidence={"file": "b"}),
    )  # fmt: skip

    def like(**over):
        with world.database.read() as session:
            return reported_scores.like(session, make_score(world.run, **over))

    assert like(step=3) == first
    assert like(evidence={"file": "b"}) == other
    assert like() is like(step=3, evidence={"file": "b"}) is None
    assert like(step=3, run_seconds=1.0) is like(step=3, final=False) is None
    assert like(step=3, score=0.3) is like(step=3, run_id=world.other_run.id) is None


def test_a_score_needs_its_run(world):
    with pytest.raises(IntegrityError):
        add(world, make_score(world.run, run_id="run_none"))


def test_where_a_run_is_from(world):
    made = ImportedRunRecord(
        run_id=world.run.id, file="results.json", place="logs/1/trace.json", sha256="ab" * 32,
        document={"z": 1, "a": [0.5, None]}, imported_at=NOON,
    )  # fmt: skip
    world.database.write(lambda s: imported_runs.add(s, [made]))

    with world.database.read() as session:
        assert imported_runs.get(session, world.run.id) == made
        assert imported_runs.get(session, world.other_run.id) is None
        assert imported_runs.of_competition(session, "first", "bikes") == {1: made}
        assert imported_runs.of_competition(session, "first", "leaves") == {}
    with pytest.raises(IntegrityError):
        world.database.write(lambda s: imported_runs.add(s, [made]))


def test_results_distinguish_reported_scores(world):
    add(world, make_score(world.run), make_score(world.run))
    row = {"file": "f", "place": "p", "sha256": "", "document": {}, "imported_at": NOON}
    world.database.write(
        lambda s: imported_runs.add(s, [ImportedRunRecord(run_id=world.other_run.id, **row)])
    )

    with world.database.read() as session:
        found = {each.run: each for each in results.run_results(session)}
    assert (found[world.run.id].reported, found[world.run.id].imported) == (2, False)
    assert (found[world.other_run.id].reported, found[world.other_run.id].imported) == (0, True)
    assert found[world.run.id].score is None
