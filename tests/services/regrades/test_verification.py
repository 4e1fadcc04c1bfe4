"""A verification counts what it does not list."""

from __future__ import annotations

import pytest

from app.services.regrades import verification as module
from app.services.regrades.verification import verification
from app.services.runtime.context import Context
from tests.services.regrades.make import graded
from tests.services.regrades.test_apply import regraded
from tests.storage.make import World


def test_faults_beyond_the_list_are_counted(
    context: Context, here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        graded(here)
    failed = regraded(context, fails=True)
    monkeypatch.setattr(module, "LISTED_DIFFERENCES", 1)

    found = verification(context, failed.id)

    assert len(found["submissions"]) == 1
    assert (found["compared"], found["different"], found["faults"]) == (3, 3, 3)
