"""The table of a rate under other choices."""

from __future__ import annotations

from dataclasses import replace

from app.domain.result_choices import Padding
from app.reports.document.page import Marked
from app.reports.sensitivity import SHOWN, sensitivity_report
from app.services.results.inputs.scope import ResultFilter
from app.services.results.sensitivity import Sensitivity, SensitivityChoice, Variant
from tests.reports.make import PLAIN

FAILS = "1 missing: such results count as failures (padding=fail)"
ASKED = replace(
    PLAIN, filters=ResultFilter(padding=Padding.FAIL), missing=(("bikes", 1, "no run"),)
)


def test_the_ten_changes_that_are_largest_are_shown_and_the_others_are_bounded() -> None:
    left_out = [
        Variant(SensitivityChoice.COMPETITION, f"c{number:02}", 12, 50.0 - (12 - number),
                -float(12 - number), (1.0, 2.0), None, None, 1 if number == 0 else 0)
        for number in range(SHOWN + 2)
    ]  # fmt: skip
    refused = Variant(SensitivityChoice.PADDING, "none", None, None, None, None, "refused")
    other = Variant(SensitivityChoice.PADDING, "available", 1, 75.0, 25.0, None, None, None, 3)
    flag = Variant(SensitivityChoice.FLAG, "leaky", 1, 40.0, -10.0, None, None, None, 0)
    variants = [flag, *left_out, other, refused]

    page = sensitivity_report(
        Sensitivity(ASKED, "any_medal", 50.0, None, (40.0, 60.0), variants)
    ).page()

    (table,) = page.tables
    lines = {line[0]: line[1:] for line in table.rows}
    assert list(lines) == ["as asked", "without the flag leaky",
                           *(f"without c{number:02}" for number in range(SHOWN)),
                           "padding=available", "padding=none"]  # fmt: skip
    mark, asked = (FAILS,), "40.00 to 60.00"
    assert lines["as asked"][1:4] == [Marked("50.00", mark), "", Marked(asked, mark)]
    # Its own results are complete, but those of the rate from which it differs are not.
    assert lines["without the flag leaky"][:3] == ["1", "40.00", Marked("-10.00", mark)]
    assert lines["without c00"][1:3] == [Marked("38.00", mark), Marked("-12.00", mark)]
    available = (
        (
            "3 missing results are left out: each competition counts with the results that it has "
            "(padding=available)"
        ),
    )
    assert lines["padding=available"][1:3] == [
        Marked("75.00", available), Marked("+25.00", available)
    ]  # fmt: skip
    assert lines["padding=none"] == ["", Marked("not known", ("refused",)), "", "", ""]
    bound = "Leaving out one of the other 2 competitions changes the rate by at most 2.00 points."
    assert page.notes[0] == bound

    hidden = [*left_out[:-1], replace(left_out[-2], name="c11", change=None, mean=None)]
    for last in (left_out[: SHOWN + 1], hidden):
        found = Sensitivity(PLAIN, "any_medal", 50.0, None, None, last)
        notes = sensitivity_report(found).page().notes
        one = "Leaving out the other competition changes the rate by 2.00 points."
        assert notes[0] == (one if len(last) == SHOWN + 1 else bound)


def test_each_choice_is_a_row() -> None:
    flag = Variant(SensitivityChoice.FLAG, "leaky", 1, 40.0, -10.0, (30.0, 60.0), None, None, 2)
    report = sensitivity_report(Sensitivity(ASKED, "gold", 50.0, None, (40.0, 60.0), [flag]))

    (row,) = report.rows
    names = ("choice", "name", "asked", "mean", "change", "rate", "missing_in_variant", "missing")
    assert [row[name] for name in names] == ["flag", "leaky", 50.0, 40.0, -10.0, "gold", 2, 1]
    ends = [row["competitions95_low"], row["competitions95_high"], row["runs95_low"]]
    assert ends == [30.0, 60.0, None]
    assert report.document["variants"][0]["missing"] == 2
    page = report.page()
    assert len(page.tables[0].rows) == 2
    assert not any(note.startswith("Leaving out") for note in page.notes)
