"""The Rasch model and slopes: against statsmodels, by simulation, and where nothing varies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from statsmodels.genmod import families
from statsmodels.genmod.generalized_linear_model import GLM
from statsmodels.tools import add_constant

from app.statistics.rasch import PRIOR, fit_rasch, slopes


def drawn(draw: np.random.Generator, experiments: int, items: int, runs: int) -> tuple:
    ability = draw.normal(0, 1, experiments)
    difficulty = draw.normal(0, 1.5, items)
    tried = np.full((experiments, items), float(runs))
    chance = 1 / (1 + np.exp(-(ability[:, None] - difficulty)))
    return ability, difficulty, tried, draw.binomial(runs, chance).astype(float)


def test_the_fit_is_the_maximum_of_the_penalised_likelihood() -> None:
    _, _, tried, won = drawn(np.random.default_rng(3), 5, 8, 4)

    def loss(parameters: np.ndarray) -> float:
        logit = parameters[:5, None] - parameters[5:]
        likelihood = won * logit - tried * np.logaddexp(0, logit)
        return float(-likelihood.sum() + (parameters**2).sum() / (2 * PRIOR**2))

    best = minimize(loss, np.zeros(13), method="BFGS", options={"gtol": 1e-8})
    found = fit_rasch(won, tried)
    centre = best.x[:5].mean()
    assert found.abilities == pytest.approx(best.x[:5] - centre, abs=1e-5)
    assert found.difficulties == pytest.approx(best.x[5:] - centre, abs=1e-5)
    # The covariance of the centred values, from a Hessian by differences.
    step, size = 1e-4, 13
    unit = np.eye(size) * step
    hessian = np.array(
        [[(loss(best.x + a + b) - loss(best.x + a - b) - loss(best.x - a + b)
           + loss(best.x - a - b)) / (4 * step**2) for b in unit] for a in unit]
    )  # fmt: skip
    centring = np.eye(size)
    centring[:, :5] -= 1 / 5
    errors = np.sqrt(np.diag(centring @ np.linalg.inv(hessian) @ centring.T) * found.dispersion)
    assert found.ability_errors == pytest.approx(errors[:5], rel=1e-3)
    assert found.difficulty_errors == pytest.approx(errors[5:], rel=1e-3)


def test_a_slope_is_near_that_of_an_unpenalised_logistic_regression() -> None:
    _, _, tried, won = drawn(np.random.default_rng(5), 60, 30, 8)
    fit = fit_rasch(won, tried)
    found = slopes(won, tried, fit)
    at = int(np.argmin(np.abs(won.sum(axis=0) / tried.sum(axis=0) - 0.5)))
    rest = np.delete(won, at, axis=1).sum(axis=1)
    # Abilities by the other items rise with their score: the regression on them is the model's.
    model = GLM(
        np.stack([won[:, at], tried[:, at] - won[:, at]], axis=1),
        add_constant(fit_rasch(np.delete(won, at, 1), np.delete(tried, at, 1)).abilities),
        family=families.Binomial(),
    ).fit()
    assert np.corrcoef(rest, fit.abilities)[0, 1] > 0.99
    assert found.values[at] == pytest.approx(model.params[1], rel=0.03)
    scale = max(1.0, model.pearson_chi2 / model.df_resid) ** 0.5
    assert found.errors[at] == pytest.approx(model.bse[1] * scale, rel=0.05)


@pytest.mark.simulation
@pytest.mark.parametrize("experiments", [4, 8, 20])
def test_intervals_cover_the_truth(experiments: int) -> None:
    draw = np.random.default_rng(1)
    hits = {"ability": [], "difficulty": [], "slope": []}
    for _ in range(60):
        ability, difficulty, tried, won = drawn(draw, experiments, 75, 3)
        fit = fit_rasch(won, tried)
        lines = slopes(won, tried, fit)
        off = np.abs(fit.difficulties - (difficulty - ability.mean()))
        hits["difficulty"].append(np.mean(off <= 1.96 * fit.difficulty_errors))
        off = np.abs(fit.abilities - (ability - ability.mean()))
        hits["ability"].append(np.mean(off <= 1.96 * fit.ability_errors))
        known = ~np.isnan(lines.values)
        hits["slope"].append(np.mean((lines.low[known] <= 1) & (lines.high[known] >= 1)))
    covered = {name: np.mean(found) for name, found in hits.items()}
    assert 0.93 <= covered["difficulty"] <= 0.98
    assert 0.93 <= covered["ability"] <= 0.98
    assert covered["slope"] >= 0.94  # with few experiments Student's t is wide


def test_runs_that_resemble_one_another_do_not_make_an_item_inverted() -> None:
    """An experiment may be bad at one competition for reasons of its own, in all of its runs."""
    draw = np.random.default_rng(2)
    called = 0
    for _ in range(20):
        ability, difficulty = draw.normal(0, 1, 6), draw.normal(0, 1, 40)
        logit = ability[:, None] - difficulty + draw.normal(0, 1.5, (6, 40))
        tried = np.full((6, 40), 16.0)
        won = draw.binomial(16, 1 / (1 + np.exp(-logit))).astype(float)
        fit = fit_rasch(won, tried)
        lines = slopes(won, tried, fit)
        called += int((lines.high < 0).sum())
        assert fit.dispersion > 1.5
    assert called <= 0.025 * 800


def test_what_all_or_nobody_solved_stays_finite() -> None:
    won = np.array([[0.0, 3.0, 1.0, 2.0]] * 4)
    tried = np.full((4, 4), 3.0)
    fit = fit_rasch(won, tried)
    assert np.isfinite(fit.difficulties).all()
    assert fit.difficulties[0] > fit.difficulties[2] > fit.difficulties[3] > fit.difficulties[1]
    assert fit.difficulty_errors[0] > fit.difficulty_errors[2]
    lines = slopes(won, tried, fit)
    assert np.isnan(lines.values).tolist() == [True, True, False, False]


@pytest.mark.parametrize(("experiments", "items", "runs"), [(1, 1, 1), (1, 5, 1), (2, 1, 3)])
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_nothing_varies(experiments: int, items: int, runs: int, share: float) -> None:
    tried = np.full((experiments, items), float(runs))
    fit = fit_rasch(share * tried, tried)
    for part in (fit.abilities, fit.ability_errors, fit.difficulties, fit.difficulty_errors):
        assert np.isfinite(part).all()
    assert np.isnan(slopes(share * tried, tried, fit).values).all()
    assert fit.dispersion == 1.0


def test_unequal_attempts_and_many_experiments() -> None:
    draw = np.random.default_rng(4)
    tried = draw.integers(1, 17, (300, 20)).astype(float)
    ability, difficulty = draw.normal(0, 1, 300), draw.normal(0, 1, 20)
    won = draw.binomial(tried.astype(int), 1 / (1 + np.exp(-(ability[:, None] - difficulty))))
    fit = fit_rasch(won.astype(float), tried)
    assert np.abs(fit.difficulties - (difficulty - ability.mean())).max() < 0.35
    assert fit.dispersion == pytest.approx(1.0, abs=0.1)
    assert slopes(won.astype(float), tried, fit).values == pytest.approx(np.ones(20), abs=0.35)


def test_a_slope_is_on_abilities_that_are_found_to_the_end() -> None:
    tried = np.array([[3, 3, 3], [2, 1, 300], [300, 2, 300], [1, 1, 300]], dtype=float)
    won = np.array([[3, 1, 3], [2, 0, 0], [0, 0, 300], [1, 0, 300]], dtype=float)
    fit = fit_rasch(won, tried)

    def left(ability: float, row: int) -> float:
        expected = tried[row, :2] / (1 + np.exp(fit.difficulties[:2] - ability))
        return float((won[row, :2] - expected).sum() - ability / PRIOR**2)

    abilities = np.array([brentq(left, -50, 50, args=(row,)) for row in range(4)])
    centred = abilities - abilities.mean()

    def loss(line: np.ndarray) -> float:
        logit = line[0] + line[1] * centred
        deviance = (tried[:, 2] * np.logaddexp(0, logit) - won[:, 2] * logit).sum()
        return float(deviance + line[1] ** 2 / (2 * PRIOR**2))

    best = minimize(loss, [0.0, 0.0], method="Nelder-Mead", options={"maxiter": 10_000}).x
    assert slopes(won, tried, fit).values[2] == pytest.approx(best[1], abs=1e-2)
