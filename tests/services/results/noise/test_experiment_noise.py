"""How many medals are within the noise of their scores, and whose noise that is."""

from __future__ import annotations

from datetime import timedelta

from app.domain.result_choices import Excluded, Reviews
from app.domain.states import ArchivalKind
from app.services.regrades.apply import apply
from app.services.results.cells import heat_map
from app.services.results.inputs.scope import ResultFilter, result_context
from app.services.results.noise.experiment_noise import (
    RateNoise,
    final_scores,
    near_lines,
    noise_of,
)
from app.services.results.overview import page
from app.services.runtime.context import Context
from app.storage.database.records import VersionRecord
from app.storage.queries import grades
from app.storage.queries.noise import uncertainties
from app.storage.queries.noise.uncertainties import UncertaintyRecord
from app.storage.queries.regrades.in_force import Basis
from tests.services.regrades.test_apply import regraded
from tests.services.results.make import NOON, archive_it, closed_run, exclude
from tests.services.submissions.conftest import readable_version

LATER = NOON + timedelta(days=1)


def keep(context: Context, submission: str, **chances: float) -> None:
    """Store how often resamples won each medal."""
    with context.database.read() as session:
        (grade,) = grades.grades_of(session, submission)
    assert grade.id is not None
    record = UncertaintyRecord(
        grade_id=grade.id, seed=0, rows=9, resamples=1000, undefined=0, standard_error=0.1, low=0.0,
        high=1.0, medals={"gold": 0.0, "silver": 0.0, "bronze": 0.0, "none": 0.0, **chances},
        reason=None, grader={}, estimated_at=LATER,
    )  # fmt: skip
    context.database.write(lambda session: uncertainties.add(session, record))


def noise(context: Context, filters: ResultFilter = ResultFilter()) -> dict[str, RateNoise]:
    counted, _ = result_context(context, "first", filters)
    return {one.rate: one for one in noise_of(context, counted)}


def test_a_medal_is_within_the_noise_from_one_standard_error_on(
    context: Context, bikes: VersionRecord
) -> None:
    medals = [("gold", 0.16, 0.84), ("gold", 0.15, 0.85), (None, 0.84, 0.16), (None, 0.85, 0.15)]
    sent = {}
    for seed, (medal, none, gold) in enumerate(medals):
        _, (sent[seed],) = closed_run(context, bikes, seed, {"medal": medal})
        assert noise(context) == {} or seed > 0
        keep(context, sent[seed], none=none, gold=gold)
    closed_run(context, bikes, 9, {"medal": "gold"})
    closed_run(context, bikes, 10)  # without a score there is no noise to be measured

    found = noise(context)
    assert found["any_medal"] == RateNoise("any_medal", 4, 1, 2, 1, 1)
    assert found["gold"] == RateNoise("gold", 4, 1, 2, 1, 1)
    assert found["silver"] == RateNoise("silver", 4, 1, 0, 0, 0)
    asked = {sent[seed]: medals[seed][0] for seed in sent}
    assert near_lines(context, asked) == {sent[0], sent[2]}
    cells = heat_map(context, "first").rows[0].cells
    assert [cell.is_near for cell in cells] == [True, False, True, False, False, False]
    (listed,), _ = page(context, q="first", sort="name", descending=False, limit=9, offset=0)
    assert listed.near_lines == 2


def test_excluded_and_archived_runs_have_noise_only_where_they_count(
    context: Context, bikes: VersionRecord
) -> None:
    for seed in (1, 2, 3):
        run, (sent,) = closed_run(context, bikes, seed, {"medal": "gold"})
        keep(context, sent, gold=1.0)
        if seed == 2:
            exclude(context, run)
    archive_it(context, ArchivalKind.RUN, run.id)

    def measured(filters: ResultFilter) -> int:
        return noise(context, filters)["gold"].measured

    assert measured(ResultFilter()) == 1
    assert measured(ResultFilter(reviews=Reviews.IGNORE)) == 2
    assert measured(ResultFilter(archived=True)) == 2


def test_flagged_competitions_that_fail_have_no_medals(
    context: Context, bikes: VersionRecord
) -> None:
    document = {"flags": [{"code": "leaky", "note": "x"}]}
    for version in (bikes, readable_version(context, "leaves", document=document)):
        _, (sent,) = closed_run(context, version, 1, {"medal": "gold"})
        keep(context, sent, gold=1.0)

    assert noise(context)["gold"].won == 2
    for excluded in Excluded:
        asked = ResultFilter(exclude_flags=("leaky",), excluded=excluded)
        assert noise(context, asked)["gold"].won == 1


def test_noise_is_that_of_the_first_grade_and_of_what_was_known_then(
    context: Context, bikes: VersionRecord
) -> None:
    _, (sent,) = closed_run(context, bikes, 1, {"medal": "gold", "score": 0.5})
    keep(context, sent, gold=1.0)
    before = Basis(as_of=LATER - timedelta(seconds=1))
    assert [one.kept is None for one in final_scores(context, "first")] == [False]
    assert [one.kept is None for one in final_scores(context, "first", basis=before)] == [True]
    assert final_scores(context, "first", competitions=["leaves"]) == []

    regrade = regraded(context, 0.75)
    apply(context, regrade.id, reason="mended", by=None)
    (found,) = final_scores(context, "first")
    assert (found.score, found.kept, found.regrade) == (0.75, None, regrade.id)
    assert (noise(context)["gold"].measured, noise(context)["gold"].unmeasured) == (0, 1)


def test_a_cell_is_near_a_line_by_the_noise_of_the_grade_that_counts(
    context: Context, bikes: VersionRecord
) -> None:
    for seed in (1, 2):
        run, (sent,) = closed_run(context, bikes, seed, {"medal": "gold", "score": 0.5})
        keep(context, sent, gold=0.6, none=0.4)
    assert [cell.is_near for cell in heat_map(context, "first").rows[0].cells] == [True, True]

    exclude(context, run)
    assert [cell.is_near for cell in heat_map(context, "first").rows[0].cells] == [True, False]

    apply(context, regraded(context, 0.75).id, reason="mended", by=None)
    assert heat_map(context, "first").near == 0
