"""Values that are kept, and the turn of those who compute them."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor, as_completed

from app.errors import Unavailable
from app.services.runtime.kept_values import MOST_WAITING, KeptValues


def test_no_more_wait_for_their_turn_than_other_requests_can_spare_threads() -> None:
    kept = KeptValues()

    def compute() -> str:
        with kept.turn():
            return "computed"

    with ThreadPoolExecutor(2 * MOST_WAITING) as threads:
        with kept.turn():
            asked = [threads.submit(compute) for _ in range(2 * MOST_WAITING)]
            done = as_completed(asked, timeout=30)
            refused = [one.exception() for one in itertools.islice(done, MOST_WAITING + 1)]
        assert {type(one) for one in refused} == {Unavailable}
        assert [one.result() for one in done] == ["computed"] * (MOST_WAITING - 1)
    assert compute() == "computed"
