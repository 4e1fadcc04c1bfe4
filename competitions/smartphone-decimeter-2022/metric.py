"""The mean over trips of the mean of median and 95th percentile of the distance in metres: rows are
grouped by a part of their id. Source of the formula:
https://www.kaggle.com/c/smartphone-decimeter-2022/overview/evaluation. Distances are great circles
on a sphere of 6,371 km (the haversine formula).
"""

import numpy as np
import pandas as pd

RADIUS = 6_371_000.0
LATITUDE, LONGITUDE = "LatitudeDegrees", "LongitudeDegrees"


def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    lat1, lon1 = (np.radians(answers[name].to_numpy()) for name in (LATITUDE, LONGITUDE))
    lat2, lon2 = (np.radians(submission[name].to_numpy()) for name in (LATITUDE, LONGITUDE))
    chord = np.sin((lat2 - lat1) / 2) ** 2
    chord += np.cos(lat1) * np.cos(lat2) * np.sin((lon2 - lon1) / 2) ** 2
    distance = 2 * RADIUS * np.arcsin(np.sqrt(np.clip(chord, 0.0, 1.0)))
    trips = pd.Series(distance).groupby(answers["tripId"].to_numpy(), sort=False)
    return float(np.mean([np.percentile(trip, [50, 95]).mean() for _, trip in trips]))
