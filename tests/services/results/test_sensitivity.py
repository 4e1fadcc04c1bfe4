"""A rate without each competition and with each other padding."""

from __future__ import annotations

import pytest

from app.domain.result_choices import Padding
from app.errors import AttemptsMissing
from app.services.results.inputs.scope import ResultFilter
from app.services.results.sensitivity import SensitivityChoice, Variant, sensitivity
from app.services.runtime.context import Context
from tests.services.results.make import import_medals


def of(variants: list[Variant], choice: SensitivityChoice) -> list[Variant]:
    return [one for one in variants if one.choice is choice]


def test_the_competition_that_changes_the_rate_most_comes_first(context: Context) -> None:
    medals = {"a": ["gold", "gold"], "b": ["gold", None], "c": [None, None], "d": ["gold", None]}
    import_medals(context, "first", medals)

    found = sensitivity(context, "first", ResultFilter(), "any_medal")

    assert found.mean == 50.0
    left_out = of(found.variants, SensitivityChoice.COMPETITION)
    assert [one.name for one in left_out] == ["a", "c", "b", "d"]
    means = [one.mean for one in left_out]
    assert means == pytest.approx([100 / 3, 200 / 3, 50.0, 50.0])
    assert [one.change for one in left_out] == pytest.approx([mean - 50.0 for mean in means])
    assert {one.competitions for one in left_out} == {3}


def test_missing_results_count_as_each_padding_says(context: Context) -> None:
    import_medals(context, "first", {"a": ["gold", "gold"], "b": ["gold"]})

    asked = ResultFilter(padding=Padding.FAIL)
    found = sensitivity(context, "first", asked, "any_medal")

    assert found.mean == 75.0
    others = {one.name: one for one in of(found.variants, SensitivityChoice.PADDING)}
    assert sorted(others) == ["available", "complete", "none"]
    assert (others["available"].mean, others["complete"].mean) == (100.0, 100.0)
    assert others["none"].mean is None
    assert "b" in (others["none"].refused or "")
    without = {one.name: one for one in of(found.variants, SensitivityChoice.COMPETITION)}
    assert (without["a"].missing, without["b"].missing) == (1, 0)


def test_missing_results_are_refused_as_in_the_rate_itself(context: Context) -> None:
    import_medals(context, "first", {"a": ["gold", "gold"], "b": ["gold"]})

    with pytest.raises(AttemptsMissing):
        sensitivity(context, "first", ResultFilter(), "any_medal")


def test_nothing_is_left_without_the_only_competition(context: Context) -> None:
    import_medals(context, "first", {"a": ["gold", None]})

    found = sensitivity(context, "first", ResultFilter(), "any_medal")

    (only,) = of(found.variants, SensitivityChoice.COMPETITION)
    assert (only.name, only.mean, only.refused) == ("a", None, "It is the only competition.")
    assert found.competitions95 is None
