"""Which scores are summarised, and which questions about them are refused."""

from __future__ import annotations

import pytest

from app.domain.result_choices import Excluded, Padding
from app.errors import AttemptsMissing, Invalid, NotFound
from app.reports.document.page import Marked
from app.reports.score_summaries import scores_report
from app.services.results.inputs.scope import ResultFilter
from app.services.results.scores.score_summaries import scores
from app.services.runtime.context import Context
from app.statistics.percentiles import GAP_CLOSED, SAMPLE_TO_GOLD
from app.storage.database.records import VersionRecord
from tests.services.results.make import add_imports, closed_run, import_medals
from tests.services.submissions.conftest import readable_version

SECOND = {"score": 2.0, "better": 1, "equal": 0, "worse": 3}


@pytest.fixture
def bikes(context: Context) -> VersionRecord:
    """A competition with a percentile of 75, and a run without a file."""
    version = readable_version(context, "bikes")
    closed_run(context, version, 1, SECOND)
    closed_run(context, version, 2)
    return version


def test_the_mean_gap_to_the_target_is_beside_the_mean(
    context: Context, bikes: VersionRecord
) -> None:
    found = scores(context, "first", ResultFilter(), target=50.0)

    assert (found.convention, found.target, found.unplaced) == ("mid-rank", 50.0, [])
    assert (found.summary.mean.value, found.summary.optimality_gap.value) == (37.5, 25.0)
    assert scores(context, "first", ResultFilter()).target == 100.0
    by = scores(context, "first", ResultFilter(), convention="not-better")
    assert by.convention == "not-better"


def test_a_score_without_a_place_is_a_failure_only_with_padding(
    context: Context, bikes: VersionRecord
) -> None:
    closed_run(context, bikes, 3, {"score": 2.0})

    for padding in (Padding.NONE, Padding.AVAILABLE):
        with pytest.raises(AttemptsMissing, match="first: bikes seed 3: its score has no place"):
            scores(context, "first", ResultFilter(padding=padding))
    found = scores(context, "first", ResultFilter(padding=Padding.FAIL))
    assert [(one.competition, one.seed) for one in found.unplaced] == [("bikes", 3)]
    assert (found.summary.attempts, found.summary.mean.value) == (3, 25.0)
    page = scores_report(found).page()
    cell = page.tables[0].rows[0][1]
    assert isinstance(cell, Marked)
    assert cell.text == "25.00"
    assert page.notes[2].startswith("1 attempt that has no percentile")


def test_flagged_competitions_fail_whatever_their_scores_are(
    context: Context, bikes: VersionRecord
) -> None:
    document = {"flags": [{"code": "leaky", "note": "x"}]}
    flagged = readable_version(context, "leaves", document=document)
    for seed in (1, 2):
        closed_run(context, flagged, seed, SECOND)

    assert scores(context, "first", ResultFilter()).summary.mean.value == 56.25
    for excluded, mean in ((Excluded.FAIL, 18.75), (Excluded.DROP, 37.5)):
        asked = ResultFilter(exclude_flags=("leaky",), excluded=excluded)
        assert scores(context, "first", asked).summary.mean.value == mean


def test_two_experiments_are_compared_by_their_pairs(
    context: Context, bikes: VersionRecord
) -> None:
    """Of the two pairs the first experiment wins one, and the other one is even."""
    import_medals(context, "second", {})
    add_imports(context, "second", {"bikes": {1: None}}, valid=False, score=None)

    found = scores(context, "first", ResultFilter(), against="second")
    assert found.better is not None
    assert found.better.value == 75.0


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ({"against": "first"}, "against: compare an experiment with another one"),
        ({"scale": GAP_CLOSED, "convention": "mid-rank"}, "percentile: it is for scale=percentile"),
        ({"scale": SAMPLE_TO_GOLD, "target": 1.3}, "between-sample-and-gold goes from -1.2 to 1.2"),
        ({"target": -0.1}, "target: percentile goes from 0 to 100"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_name(
    context: Context, over: dict[str, object], message: str
) -> None:
    with pytest.raises(Invalid, match=message):
        scores(context, "first", ResultFilter(), **over)  # type: ignore[arg-type]


def test_a_name_with_a_comma_is_one_name(context: Context, bikes: VersionRecord) -> None:
    with pytest.raises(NotFound, match="'first,first'"):
        scores(context, "first,first", ResultFilter())
