"""A verification counts all differences, of which it lists the first."""

from __future__ import annotations

import pytest

from app.graders.messages.results import GraderFault
from app.services.regrades import verification
from app.services.regrades.regrade_claims import RegradeClaims
from app.services.runtime.context import Context
from tests.services.regrades.make import graded, started
from tests.storage.make import World


def test_faults_are_counted_beyond_the_listed_ones(
    context: Context, here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    graded(here)
    graded(here)
    one = started(context)
    claims = RegradeClaims(context)
    while claimed := claims.claim(9, ()):
        for each in claimed:
            claims.write(each, GraderFault("crashed"), "m").result()
    context.database.write(lambda session: None)
    monkeypatch.setattr(verification, "LISTED_DIFFERENCES", 1)

    found = verification.verification(context, one.id)

    assert (found["different"], found["faults"], len(found["submissions"])) == (2, 2, 1)
