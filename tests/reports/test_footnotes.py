"""Every footnote of the numbers of an experiment, as readers see it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

from app.domain.result_choices import Excluded, Padding, Reviews
from app.receipts.statements import ReceiptKind
from app.reports.document.footnotes import footnotes, marked, marks_of, shared_notes
from app.reports.document.page import Marked
from app.services.public_log.freezes import Freeze
from app.services.results.inputs.scope import ResultFilter
from app.statistics.attempts import make_grid
from app.storage.queries.regrades.in_force import Basis, InForce
from app.storage.queries.trust.receipts import ReceiptRecord
from tests.reports.make import NOON, PLAIN
from tests.statistics.make import attempt


def test_where_there_is_nothing_to_say_the_competitions_and_seeds_are_named() -> None:
    assert footnotes(PLAIN) == ["first: its competitions, 1 competition, 2 seeds."]
    one = replace(PLAIN, grid=make_grid([attempt("bikes", 0)], {"bikes"}))
    assert footnotes(replace(one, filters=ResultFilter(suite="tiny"))) == [
        "first: suite tiny, 1 competition, 1 seed.",
        "One seed: the spread between seeds is not known.",
    ]


def test_what_agents_and_harnesses_were_told() -> None:
    told = {"validation": 3, "public_score": 1, "private_score": 2}
    harness = {"harness_validation": 1, "harness_private_score": 4}
    about = replace(PLAIN, policies={"validity": 2, "full": 1}, disclosed=told)
    everything = {**told, "search_score": 1, "failure": 1, **harness, "harness_failure": 2}

    assert footnotes(about)[1:] == [
        (
            "Feedback: 1 full, 2 validity. Told to the agents: 3 validations, 1 public score, "
            "2 private scores."
        )
    ]
    silent = footnotes(replace(about, disclosed={"harness_failure": 1}))
    assert silent[1].endswith(
        "Told to the agents: 0 validations, 0 public scores, 0 private scores."
    )
    assert silent[2].startswith(
        "Told to harnesses: 0 validations, 0 private scores, 1 failure of grading."
    )
    assert footnotes(replace(about, disclosed=everything))[1:] == [
        (
            "Feedback: 1 full, 2 validity. Told to the agents: 3 validations, 1 search score, "
            "1 public score, 2 private scores, 1 failure of grading."
        ),
        (
            "Told to harnesses: 1 validation, 4 private scores, 2 failures of grading. Whether a "
            "harness passes them on to its agent, Podium cannot see."
        ),
    ]


def test_what_does_not_count_and_why() -> None:
    filters = ResultFilter(padding=Padding.FAIL, exclude_flags=("leaky",))
    about = replace(
        PLAIN,
        filters=filters,
        missing=(("bikes", 1, "no run"),),
        outside=1,
        open=1,
        imported=1,
        withdrawn=1,
        failures={"out_of_memory": 2, "crash": 1},
        excluded=("whales",),
        archived_competitions=("owls", "yaks"),
        flags=(("bikes", "easy", "a note"),),
    )

    assert footnotes(about)[1:] == [
        "1 missing: such results count as failures (padding=fail).",
        "1 result at competitions outside the competitions shown does not count.",
        "Flagged leaky, left out: whales.",
        "Left out because they are archived: owls, yaks.",
        "1 run is still open: its last valid submission counts.",
        "Failures of runs: 1 crash, 2 out_of_memory.",
        "1 imported result: what those agents were told is unknown.",
        (
            "1 imported result was withdrawn by an admin: the experiment's amendments have them "
            "and the reasons."
        ),
        "Flag easy: bikes.",
    ]
    several = replace(
        about,
        filters=replace(filters, suite="tiny", excluded=Excluded.FAIL),
        outside=2,
        open=2,
        withdrawn=2,
    )
    found = "\n".join(footnotes(several))
    assert "2 results at competitions outside the suite do not count." in found
    assert "Flagged leaky, counted as failures: whales." in found
    assert "2 runs are still open: their last valid submission counts." in found
    assert "2 imported results were withdrawn" in found


def test_reviews_regrades_and_the_time_that_was_asked_for() -> None:
    at = datetime(2026, 5, 1, 14, 30, 5, tzinfo=timezone(timedelta(hours=2)))
    about = replace(
        PLAIN,
        filters=ResultFilter(basis=Basis(as_of=at)),
        reviewed=(("bikes", 0),),
        with_excluded={"any_medal": 37.5},
        regrades=(InForce("rgr_1", "bikes", None, NOON),),
    )

    assert footnotes(about)[1:] == [
        "Reviews exclude 1 run; with them any medal would be 37.50 %.",
        (
            "bikes: all submissions were graded anew under their runs' versions, regrade rgr_1 of "
            "2026-05-01."
        ),
        "As it was on 2026-05-01 12:30:05 UTC.",
    ]
    ignored = replace(about, filters=ResultFilter(reviews=Reviews.IGNORE))
    assert "Reviews exclude 1 run, counted all the same (reviews=ignore)." in footnotes(ignored)


def test_departures_from_a_plan_and_how_many_more_there_are() -> None:
    receipt = ReceiptRecord(
        id="rcp_1",
        kind=ReceiptKind.FREEZE,
        experiment="first",
        run_id=None,
        submission_id=None,
        facts="",
        statement="",
        signature="",
        envelope_signature="",
        key_id="",
        number=1,
        supersedes=None,
        created_at=NOON,
    )
    departures = tuple({"code": "c", "text": f"departure {number}"} for number in range(7))

    assert footnotes(replace(PLAIN, freeze=Freeze(receipt, ())))[1:] == [
        "Frozen before the first run (receipt rcp_1): nothing departs from it."
    ]
    assert footnotes(replace(PLAIN, freeze=Freeze(receipt, departures)))[1].endswith(
        "(receipt rcp_1): departure 0; departure 1; departure 2; departure 3; departure 4 and 2 "
        "more."
    )


def test_a_note_of_several_experiments_appears_once_with_their_names() -> None:
    second = replace(PLAIN, experiment=replace(PLAIN.experiment, name="second"))
    third = replace(
        second, experiment=replace(PLAIN.experiment, name="third"), missing=(("bikes", 1, "x"),)
    )

    assert shared_notes([PLAIN, second, third]) == [
        "first, second: its competitions, 1 competition, 2 seeds.",
        (
            "third: its competitions, 1 competition, 2 seeds. 1 missing: such results are listed "
            "(padding=none)."
        ),
    ]
    assert marks_of(PLAIN, second)("5") == "5" == marked("5", 0, Padding.FAIL)
    note = "2 missing results count as failures (padding=fail)"
    assert marked("5", 2, Padding.FAIL) == Marked("5", (note,))
    assert marks_of(PLAIN, third, third)("5") == Marked(
        "5", ("1 missing: such results are listed (padding=none)",)
    )
