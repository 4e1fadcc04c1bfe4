"""Files that are made to be slow take a competition's own metric seconds, not minutes."""

import time
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.ndimage import distance_transform_edt

from app.grading.custom_metric import load_metric
from tests.catalogue.vectors import COMPETITIONS


def functions_of(slug: str) -> SimpleNamespace:
    own = load_metric((COMPETITIONS / slug / "metric.py").read_text(), slug)
    return SimpleNamespace(**own.score.__globals__)


def test_planes_that_are_marked_far_from_an_organ() -> None:
    metric = functions_of("uw-madison-gi-tract-image-segmentation")
    organ, marked = np.zeros((2, 72, 133, 133), dtype=bool)
    organ[20:50, 50:80, 50:80] = True
    marked[:7] = marked[-1, 0, 0] = True
    scale = 1.0 / np.array(organ.shape)

    started = time.process_time()
    farthest = metric._farthest(organ, marked, scale)
    assert time.process_time() - started < 2  # it took 6

    distances = distance_transform_edt(~marked, sampling=scale)
    assert farthest == pytest.approx(distances[organ].max(), abs=1e-12)
