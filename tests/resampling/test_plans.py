"""The score of weighted rows is the metric's own score of the rows so drawn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, chi2
from sklearn import metrics as sklearn_metrics

from app.metrics import METRICS
from app.resampling.draws import DrawnRows, draws
from app.resampling.metrics import PLANS, REFUSED, slow_plan
from tests.resampling.make import Case, cases

ALL = cases()


def name_of(case: Case) -> str:
    shape = case.y_true.shape if isinstance(case.y_true, np.ndarray) else "lists"
    return f"{case.name}-{case.parameters}-{shape}"


def test_every_metric_has_a_plan_or_a_reason() -> None:
    assert sorted([*PLANS, *REFUSED]) == sorted(METRICS)
    assert {case.name for case in ALL} >= set(PLANS)


@pytest.mark.parametrize("case", ALL, ids=name_of)
def test_rows_drawn_once_each_have_the_metrics_score(case: Case) -> None:
    plan = case.plan()

    (score,) = plan.score(plan.counts()[None].astype(float))

    assert score == pytest.approx(case.score(), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("case", ALL, ids=name_of)
def test_drawn_rows_have_the_metrics_score(case: Case) -> None:
    plan, rng = case.plan(), np.random.default_rng(5)
    drawn = rng.integers(0, plan.rows, (20, plan.rows))
    # Some with few different rows, where classes and values go missing.
    drawn[10:] %= rng.integers(2, 12, (10, 1))
    # And some of a single row, which may have no answer, for which the metric is undefined.
    drawn[15:] = rng.integers(0, plan.rows, (5, 1))
    weights = np.stack([np.bincount(rows, minlength=plan.rows) for rows in drawn]).astype(float)

    scores = plan.of_rows(weights)

    expected = [case.score(np.sort(rows)) for rows in drawn]
    assert scores == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("case", [c for c in ALL if c.name == "roc_auc_score"][:1], ids=name_of)
def test_the_slow_plan_gives_the_same_scores(case: Case) -> None:
    plan, slow = case.plan(), slow_plan(METRICS[case.name].function, case.y_true, case.y_pred)
    weights = np.random.default_rng(1).multinomial(60, np.full(60, 1 / 60), 50).astype(float)

    assert slow.score(weights) == pytest.approx(plan.of_rows(weights), nan_ok=True)


@pytest.mark.simulation
@pytest.mark.parametrize("few", [True, False])
def test_draws_have_the_moments_of_drawing_with_replacement(few: bool) -> None:
    rng = np.random.default_rng(3)
    true = rng.integers(0, 3, 400) if few else rng.normal(size=400)
    plan = Case("accuracy_score" if few else "mean_absolute_error", {}, true, 0.0 * true).plan()

    weights = np.concatenate(list(draws(plan, np.random.default_rng(7), 4000)))

    counts, rows = plan.counts(), plan.rows
    assert weights.shape == (4000, plan.cells)
    assert (weights.sum(axis=1) == rows).all()
    expected = counts * (1 - counts / rows)
    assert weights.mean(axis=0) == pytest.approx(counts, abs=6 * np.sqrt(expected.max() / 4000))
    assert weights.var(axis=0).mean() == pytest.approx(expected.mean(), rel=0.05)


@pytest.mark.simulation
@pytest.mark.parametrize("rows", [1, 3, 12, 200])
def test_drawn_rows_are_multinomial(rows: int) -> None:
    """Counts of one row have the binomial distribution, and two rows the negative covariance."""
    resamples = 40_000
    weights = DrawnRows(rows, np.random.default_rng(17)).draw(resamples)

    assert (weights.sum(axis=1) == rows).all()
    counts = np.bincount(weights[:, 0].astype(int), minlength=rows + 1)
    expected = binom(rows, 1 / rows).pmf(np.arange(rows + 1)) * resamples
    often = expected > 20
    distance = ((counts - expected)[often] ** 2 / expected[often]).sum()
    assert chi2.sf(distance, max(1, often.sum() - 1)) > 1e-4
    if rows > 1:
        halves = weights[:, : rows // 2].sum(axis=1), weights[:, rows // 2 :].sum(axis=1)
        share = (rows // 2) / rows
        assert np.var(halves[0]) == pytest.approx(rows * share * (1 - share), rel=0.05)
        assert np.corrcoef(*halves)[0, 1] == pytest.approx(-1)


def test_rows_that_are_drawn_have_no_order() -> None:
    """Every place has the same chances, at the ends and in the middle."""
    weights = DrawnRows(1000, np.random.default_rng(23)).draw(4000)

    means = weights.reshape(4000, 10, 100).mean(axis=(0, 2))
    assert means == pytest.approx(1.0, abs=6 / np.sqrt(4000 * 100))


SKLEARN = {
    "accuracy_score": lambda t, p: sklearn_metrics.accuracy_score(t, p > 0.5),
    "roc_auc_score": sklearn_metrics.roc_auc_score,
    "log_loss": lambda t, p: sklearn_metrics.log_loss(t, p, labels=[0, 1]),
    "f1_score": lambda t, p: sklearn_metrics.f1_score(t, p > 0.5, average="macro"),
    "matthews_corrcoef": lambda t, p: sklearn_metrics.matthews_corrcoef(t, p > 0.5),
    "cohen_kappa_score": lambda t, p: sklearn_metrics.cohen_kappa_score(t, p > 0.5),
    "average_precision_score": sklearn_metrics.average_precision_score,
    "root_mean_squared_error": sklearn_metrics.root_mean_squared_error,
    "mean_absolute_error": sklearn_metrics.mean_absolute_error,
    "r2_score": sklearn_metrics.r2_score,
}
OF_CLASSES = ("accuracy_score", "f1_score", "matthews_corrcoef", "cohen_kappa_score")


@pytest.mark.parametrize("name", SKLEARN)
def test_a_loop_over_scikit_learn_gives_the_same_scores(name: str) -> None:
    rng = np.random.default_rng(11)
    true = rng.integers(0, 2, 300) * 1.0
    predicted = np.clip(0.3 * true + 0.7 * rng.random(300), 0.01, 0.99).round(2)
    given = (predicted > 0.5) * 1.0 if name in OF_CLASSES else predicted
    plan = Case(name, {}, true, given).plan()
    drawn = rng.integers(0, 300, (50, 300))
    weights = np.stack([np.bincount(rows, minlength=300) for rows in drawn]).astype(float)

    expected = [SKLEARN[name](true[rows], predicted[rows]) for rows in drawn]

    assert plan.of_rows(weights) == pytest.approx(expected, rel=1e-9, abs=1e-9)
