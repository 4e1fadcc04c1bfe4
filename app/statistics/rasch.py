"""Competitions as items of a test: difficulty by the Rasch model, and a slope by a logistic model.

In the Rasch model (1960) an attempt of experiment e at competition i succeeds with the chance
1 / (1 + exp(-(ability_e - difficulty_i))). Both are in logits and estimated together by penalised
maximum likelihood: each has a normal prior with mean 0 and a standard deviation of `PRIOR`. Without
one, a competition that all or nobody solved would be infinitely easy or hard. Abilities are then
moved so that their mean is 0, with the standard errors of the moved values.

The slope of a competition (the discrimination of a model with two parameters, 2PL) is that of a
logistic regression of its outcomes on the abilities that all *other* competitions give, with the
same prior. 1 is the Rasch model, 0 says nothing about ability, below 0 better experiments do worse.

Standard errors are multiplied by the root of the dispersion, Pearson's chi squared over its degrees
of freedom, where that is more than 1: runs of one experiment resemble one another beyond its
ability.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, stdtr, stdtrit

Array = NDArray[np.float64]
PRIOR = 2.5  # logits; Gelman et al. 2008 advise it for coefficients of logistic models
STEPS = 100
CLOSE = 1e-9
FEWEST = 4  # experiments for a slope
LONGEST_STEP = 2.0  # logits; limits Newton's steps


@dataclass(frozen=True, slots=True)
class RaschFit:
    """Abilities by experiment and difficulties by competition, in logits, with standard errors."""

    abilities: Array
    ability_errors: Array
    difficulties: Array
    difficulty_errors: Array
    dispersion: float


@dataclass(frozen=True, slots=True)
class Slopes:
    """The slope of each competition, its standard error, and the interval by Student's t.

    `below_zero` is the one-sided p of a slope that is not below 0. All are NaN where there are
    fewer than four experiments, or where all attempts or none succeeded.
    """

    values: Array
    errors: Array
    low: Array
    high: Array
    below_zero: Array


def fit_rasch(successes: Array, attempts: Array) -> RaschFit:
    """Fit by Newton's method; both arrays are by [experiment, competition], without empty cells."""
    many, items = successes.shape
    ability, difficulty = np.zeros(many), np.zeros(items)
    weight = 1 / PRIOR**2
    for _ in range(STEPS):
        expected, information = _moments(ability[:, None] - difficulty, attempts)
        left = successes - expected
        by_ability = left.sum(axis=1) - weight * ability
        by_difficulty = -left.sum(axis=0) - weight * difficulty
        own = information.sum(axis=1) + weight
        # The block of the abilities is diagonal: solve for the difficulties first.
        shared = np.diag(information.sum(axis=0) + weight) - information.T @ (
            information / own[:, None]
        )
        step = np.linalg.solve(shared, by_difficulty + information.T @ (by_ability / own))
        step_ability = (by_ability + information @ step) / own
        longest = max(np.abs(step).max(), np.abs(step_ability).max())
        scale = min(1.0, LONGEST_STEP / longest) if longest > 0 else 1.0
        difficulty, ability = difficulty + scale * step, ability + scale * step_ability
        if longest < CLOSE:
            break
    expected, information = _moments(ability[:, None] - difficulty, attempts)
    dispersion = _dispersion(successes, expected, information, successes.size - many - items + 1)
    errors = _centred_errors(information, weight)
    root = np.sqrt(dispersion)
    centre = ability.mean()
    return RaschFit(
        ability - centre, root * errors[0], difficulty - centre, root * errors[1], dispersion
    )


def slopes(successes: Array, attempts: Array, fit: RaschFit) -> Slopes:
    """The slopes of all competitions on the abilities that the others give."""
    many, items = successes.shape
    found = np.full((5, items), np.nan)
    tried = attempts.sum(axis=0)
    won = successes.sum(axis=0)
    mixed = np.flatnonzero((won > 0) & (won < tried))
    if many >= FEWEST and items > 1:
        for at in mixed.tolist():
            found[:, at] = _slope(
                successes[:, at], attempts[:, at], _ability_without(successes, attempts, fit, at)
            )
    return Slopes(*found)


def _slope(won: Array, tried: Array, ability: Array) -> tuple[float, float, float, float, float]:
    centred = ability - ability.mean()
    design = np.stack([np.ones_like(centred), centred], axis=1)
    penalty = np.diag([0.0, 1 / PRIOR**2])
    at = np.array([np.log((won.sum() + 0.5) / ((tried - won).sum() + 0.5)), 0.0])
    for _ in range(STEPS):
        expected, information = _moments(design @ at, tried)
        hessian = design.T @ (design * information[:, None]) + penalty
        step = np.linalg.solve(hessian, design.T @ (won - expected) - penalty @ at)
        longest = np.abs(step).max()
        at = at + min(1.0, LONGEST_STEP / longest if longest > 0 else 1.0) * step
        if longest < CLOSE:
            break
    expected, information = _moments(design @ at, tried)
    hessian = design.T @ (design * information[:, None]) + penalty
    freedom = len(won) - 2
    dispersion = _dispersion(won, expected, information, freedom)
    slope = float(at[1])
    error = float(np.sqrt(dispersion * np.linalg.inv(hessian)[1, 1]))
    reach = float(stdtrit(freedom, 0.975)) * error
    return slope, error, slope - reach, slope + reach, float(stdtr(freedom, slope / error))


def _ability_without(successes: Array, attempts: Array, fit: RaschFit, item: int) -> Array:
    """The abilities by all competitions but one, at the difficulties of the fit."""
    others = np.arange(successes.shape[1]) != item
    won, tried = successes[:, others], attempts[:, others]
    difficulty, ability = fit.difficulties[others], fit.abilities.copy()
    weight = 1 / PRIOR**2
    for _ in range(STEPS):
        expected, information = _moments(ability[:, None] - difficulty, tried)
        step = ((won - expected).sum(axis=1) - weight * ability) / (
            information.sum(axis=1) + weight
        )
        ability = ability + np.clip(step, -LONGEST_STEP, LONGEST_STEP)
        if np.abs(step).max() < CLOSE:
            break
    return ability


def _moments(logit: Array, attempts: Array) -> tuple[Array, Array]:
    chance = expit(logit)
    expected: Array = attempts * chance
    information: Array = expected * (1.0 - chance)
    return expected, information


def _dispersion(won: Array, expected: Array, information: Array, freedom: int) -> float:
    if freedom < 1:
        return 1.0
    # Nearly certain cells say nothing about the spread, and their variance is nearly 0.
    informative = information > 1e-6
    shares = (won - expected)[informative] ** 2 / information[informative]
    return max(1.0, float(shares.sum()) / freedom)


def _centred_errors(information: Array, weight: float) -> tuple[Array, Array]:
    """The standard errors of abilities and difficulties minus the mean ability."""
    many = len(information)
    own = information.sum(axis=1) + weight
    part = information / own[:, None]
    shared = np.linalg.inv(np.diag(information.sum(axis=0) + weight) - information.T @ part)
    # The covariance is [[1/own + part shared part', part shared], [.., shared]].
    across = part @ shared
    variance = 1 / own + (across * part).sum(axis=1)
    mean_part = part.mean(axis=0)
    with_mean = 1 / (own * many) + across @ mean_part
    of_mean = (1 / own).sum() / many**2 + mean_part @ shared @ mean_part
    difficulty = np.diag(shared) - 2 * (shared @ mean_part) + of_mean
    ability = variance - 2 * with_mean + of_mean
    return np.sqrt(np.maximum(ability, 0.0)), np.sqrt(np.maximum(difficulty, 0.0))
