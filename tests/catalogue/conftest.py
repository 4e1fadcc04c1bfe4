from __future__ import annotations

import pytest

from tests.catalogue.vectors import SLUGS, Vectors


@pytest.fixture(scope="module", params=SLUGS)
def vectors(request, tmp_path_factory):
    return Vectors(request.param, tmp_path_factory.mktemp(request.param))
