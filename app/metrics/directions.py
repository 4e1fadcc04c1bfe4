"""Errors of directions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.domain.form import SubmissionForm
from app.metrics.arrays import FloatArray
from app.metrics.registry import metric


def _needs_two_angles(form: SubmissionForm, parameters: Mapping[str, Any]) -> list[str]:
    if len(form.columns) == 2:
        return []
    return ["mean_angular_error takes two columns: the azimuth and the zenith angle"]


@dataclass(frozen=True, slots=True)
class _Waves:
    """Sines and cosines of directions."""

    cos_azimuth: FloatArray
    sin_azimuth: FloatArray
    cos_zenith: FloatArray
    sin_zenith: FloatArray


def _waves(angles: FloatArray) -> _Waves:
    azimuth, zenith = angles.T
    return _Waves(np.cos(azimuth), np.sin(azimuth), np.cos(zenith), np.sin(zenith))


@metric(kinds={"number"}, columns="any", check=_needs_two_angles, prepare=_waves)
def mean_angular_error(y_true: FloatArray | _Waves, y_pred: FloatArray) -> float:
    """The mean angle between two directions, in radians, from 0 to pi.

    The columns are azimuth and zenith, in radians. Any finite angles are a direction.

    >>> mean_angular_error(np.array([[0.0, np.pi / 2]]), np.array([[np.pi, np.pi / 2]])) == np.pi
    True
    """
    return float(angles_between(y_true, y_pred).mean())


def angles_between(y_true: FloatArray | _Waves, y_pred: FloatArray) -> FloatArray:
    """The angle between the two directions of each row, in radians."""
    true = y_true if isinstance(y_true, _Waves) else _waves(y_true)
    predicted = _waves(y_pred)
    around = true.cos_azimuth * predicted.cos_azimuth
    around += true.sin_azimuth * predicted.sin_azimuth
    cosine = true.sin_zenith * predicted.sin_zenith
    cosine *= around
    cosine += true.cos_zenith * predicted.cos_zenith
    np.clip(cosine, -1.0, 1.0, out=cosine)
    return np.arccos(cosine, out=cosine)
