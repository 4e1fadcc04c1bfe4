"""The agent's model for bike-sharing-demand: boosted trees on the logarithm of the count."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

data, submission = Path(sys.argv[1]), Path(sys.argv[2])
FEATURES = ["hour", "weekday", "month", "year", "workingday", "weather", "temp", "humidity"]


def features(hours: pd.DataFrame) -> pd.DataFrame:
    """Numbers of each hour."""
    when = pd.to_datetime(hours["datetime"])
    return hours.assign(
        hour=when.dt.hour, weekday=when.dt.day_of_week, month=when.dt.month, year=when.dt.year
    )[FEATURES]


train, test = pd.read_csv(data / "train.csv"), pd.read_csv(data / "test.csv")
model = HistGradientBoostingRegressor(random_state=0)
model.fit(features(train), np.log1p(train["count"]))
count = np.expm1(model.predict(features(test))).clip(min=0)
pd.DataFrame({"datetime": test["datetime"], "count": count}).to_csv(submission, index=False)
