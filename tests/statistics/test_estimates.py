"""The bootstrap over competitions against its definition: sorted means of the resamples."""

from __future__ import annotations

import numpy as np
import pytest

from app.statistics.estimates import cluster_bootstrap, resampling_counts


@pytest.mark.parametrize(("resamples", "left_out"), [(1000, 24), (999, 24), (50, 1)])
@pytest.mark.parametrize("denominator", [None, 6, 2**24 - 1])
def test_its_ends_are_the_first_and_last_means_within_95_percent(
    resamples: int, left_out: int, denominator: int | None
) -> None:
    """Whatever numerators are summed: those of 2**24 - 1 are not exact in single precision."""
    thirds_and_halves = np.array([[0, 2, 6], [3, 4, 6], [6, 0, 6], [3, 6, 0], [1, 5, 3]]) / 6
    items = (
        thirds_and_halves
        if denominator != 2**24 - 1
        else np.floor(denominator * thirds_and_halves) / denominator
    )
    means = np.sort(resampling_counts(5, resamples, 7) @ items / 5, axis=0)

    found = cluster_bootstrap(items, denominator=denominator, resamples=resamples, seed=7)

    expected = np.stack([means[left_out], means[-1 - left_out]], axis=1)
    assert np.array(found) == pytest.approx(expected, abs=1e-12)


def test_its_ends_are_between_the_least_and_the_largest_value_of_each_column() -> None:
    """Three times 0.1, divided by 3, is more than 0.1."""
    items = np.array([[0.0, 0.0], [0.1, 1.0], [0.1, 1.0]])
    assert cluster_bootstrap(items) == [(0.0, 0.1), (0.0, 1.0)]


def test_each_resample_draws_as_many_competitions_as_there_are() -> None:
    counts = resampling_counts(6, 100, 1)
    assert (counts.sum(axis=1) == 6).all()
    assert counts.max() > 1
    with pytest.raises(ValueError, match="read-only"):  # it is kept for other callers
        counts[0, 0] = 1
