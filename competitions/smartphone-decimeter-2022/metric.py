"""The mean over trips of the mean of median and 95th percentile of the distance in metres: rows are
grouped by a part of their id. Source of the formula:
https://www.kaggle.com/c/smartphone-decimeter-2022/overview/evaluation. Distances are great circles
on a sphere of 6,371 km (the haversine formula).
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

RADIUS = 6_371_000.0
LATITUDE, LONGITUDE = "LatitudeDegrees", "LongitudeDegrees"


@dataclass(frozen=True)
class Truth:
    """The true places in radians, the cosines of the latitudes, and the trips' rows."""

    latitude: np.ndarray
    longitude: np.ndarray
    cosine: np.ndarray
    trips: list[np.ndarray]


def prepare(answers: pd.DataFrame) -> Truth:
    latitude, longitude = (np.radians(answers[name].to_numpy()) for name in (LATITUDE, LONGITUDE))
    codes, _ = pd.factorize(answers["tripId"])
    by_trip = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes))
    return Truth(latitude, longitude, np.cos(latitude), np.split(by_trip, ends[:-1]))


def score(truth: Truth, submission: pd.DataFrame) -> float:
    latitude, longitude = (
        np.radians(submission[name].to_numpy()) for name in (LATITUDE, LONGITUDE)
    )
    chord = np.sin((latitude - truth.latitude) / 2) ** 2
    chord += truth.cosine * np.cos(latitude) * np.sin((longitude - truth.longitude) / 2) ** 2
    distance = 2 * RADIUS * np.arcsin(np.sqrt(np.clip(chord, 0.0, 1.0)))
    return float(np.mean([np.percentile(distance[trip], [50, 95]).mean() for trip in truth.trips]))
