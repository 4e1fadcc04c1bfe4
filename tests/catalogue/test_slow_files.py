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
    # Whole files take longer for other reasons, and the two functions were the slow ones.
    farthest = metric._farthest(organ, marked, scale)  # noqa: SLF001
    assert time.process_time() - started < 2  # it took 6

    distances = distance_transform_edt(~marked, sampling=scale)
    assert farthest == pytest.approx(distances[organ].max(), abs=1e-12)


def test_boxes_that_reach_over_all_others() -> None:
    metric = functions_of("3d-object-detection-for-autonomous-vehicles")
    true, huge = np.zeros((100, 9)), np.zeros((20_000, 9))
    true[:, metric.X] = 9.0 * np.arange(100)
    true[:, metric.WIDTH : metric.YAW] = 2.0, 4.5, 1.5
    huge[:, metric.WIDTH : metric.YAW] = 999.0, 999.0, 9.0
    huge[-1] = true[7]
    truth = metric.Truth(true, np.array([0]), np.array([0, 100]), np.array([1.0]))

    started = time.process_time()
    overlaps, others = metric._best(huge, np.zeros(len(huge), dtype=np.int64), truth)  # noqa: SLF001
    assert time.process_time() - started < 2  # it took 18

    assert not overlaps[:-1].any()
    assert (overlaps[-1], others[-1]) == (1.0, 7)
