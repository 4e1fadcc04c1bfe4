"""Agents who together open all event streams of a server: others follow their runs all the same."""

from __future__ import annotations

import contextlib

from app.api.http.event_stream import PER_RUN_KEY
from tests.api.conftest import Podium
from tests.factories import good_submission
from tests.sse import follow

KEYS = 2
SETTINGS = {"event_streams": KEYS * PER_RUN_KEY}


def test_others_follow_their_runs_although_some_keys_have_all_streams(podium: Podium) -> None:
    folder = podium.competition()
    together = [podium.run(folder) for _ in range(KEYS)]
    with contextlib.ExitStack() as stack:
        theirs = [
            stack.enter_context(follow(run.client, run.id))
            for run in together
            for _ in range(PER_RUN_KEY)
        ]
        other = podium.run(folder)
        with follow(other.client, other.id) as events:
            assert theirs[0].rest() == []  # it ends, and its client may come again
            refused = together[0].client.get(f"/v1/runs/{together[0].id}/events")
            assert other.submit(good_submission(folder)).status_code == 201
            assert events.until("graded")
    assert refused.status_code == 503
