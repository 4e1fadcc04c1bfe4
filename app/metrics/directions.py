"""Errors of directions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from app.domain.form import SubmissionForm
from app.metrics.arrays import FloatArray
from app.metrics.registry import metric


def _needs_two_angles(form: SubmissionForm, parameters: Mapping[str, Any]) -> list[str]:
    if len(form.columns) == 2:
        return []
    return ["mean_angular_error takes two columns: the azimuth and the zenith angle"]


@metric(kinds={"number"}, columns="any", check=_needs_two_angles)
def mean_angular_error(y_true: FloatArray, y_pred: FloatArray) -> float:
    """The mean angle between two directions, in radians, from 0 to pi.

    The columns are azimuth and zenith, in radians. Any finite angles are a direction.

    >>> mean_angular_error(np.array([[0.0, np.pi / 2]]), np.array([[np.pi, np.pi / 2]])) == np.pi
    True
    """
    azimuth, zenith = y_true.T
    azimuth_p, zenith_p = y_pred.T
    around = np.cos(azimuth) * np.cos(azimuth_p) + np.sin(azimuth) * np.sin(azimuth_p)
    cosine = np.sin(zenith) * np.sin(zenith_p) * around + np.cos(zenith) * np.cos(zenith_p)
    return float(np.arccos(np.clip(cosine, -1.0, 1.0)).mean())
