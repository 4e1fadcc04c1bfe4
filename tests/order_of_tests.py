"""In which order the processes of a parallel run take the tests, so that all end together.

xdist gives each process a part of the list, with as many tests as the others have, and lets one
that is done take from the end of another's. So each part has tests that take as much processor
time as those of another, folder by folder, since each folder starts servers of its own. Those that
take nothing are at its end: taken from there, they cost the other process nothing to begin with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

LONG_TESTS = (  # 20 to 80 seconds each, on two cores
    "test_doc_commands.py::test_every_block", "test_regrade_crash.py", "test_ordinary_user.py",
    "test_kills.py::test_twenty_kills", "test_times_of_scores.py::test_the_time_of_an_answer",
    "test_inspect.py", "test_store_away.py", "test_two_servers.py", "packages/test_aide.py",
    "test_browser.py::test_every_page", "test_recipe.py",
    "test_server_deaths.py", "test_wheel.py", "test_first_change.py",
    "test_harbor_package.py", "test_failover.py::test_a_file",
    "test_background.py::test_a_database_that_is_away", "distributed/test_faults.py",
    "test_crawl.py", "test_frozen_store.py", "test_waiting_submissions.py",
    "test_floods.py::test_who_sends_line_by_line",
)  # fmt: skip
TOGETHER = (  # each shares an environment of packages that one of its tests would make anew
    "test_inspect.py", "test_harbor_package.py", "system/test_wheel.py",
)  # fmt: skip
# Milliseconds of processor time that a test of the folder takes, with all its processes. Those of
# other folders take hardly any.
COSTS = {
    "tests/api": 160, "tests/attacks": 400, "tests/cli": 200, "tests/clients": 500,
    "tests/distributed": 3000, "tests/downloads": 300, "tests/forked_python": 200,
    "tests/forkserver": 200, "tests/graders": 150, "tests/kaggle_api": 200, "tests/pictures": 300,
    "tests/preparation": 200, "tests/receipts": 100, "tests/services": 130, "tests/storage": 80,
    "tests/system": 1500, "tests/web": 400, "tests/worker": 500,
}  # fmt: skip


def arrange(items: Sequence[pytest.Item], processes: int) -> list[pytest.Item]:
    """The tests, in the order in which so many processes shall have them.

    Each process has some of those that take longest, and early: one at the end would keep all
    others waiting. Most of them wait a lot, so every other process has them after a third of its
    part: else all would wait together.
    """
    long: dict[str, list[pytest.Item]] = {}  # by what must stay together
    for item in items:
        if any(name in item.nodeid for name in LONG_TESTS):
            together = any(name in item.nodeid for name in TOGETHER)
            long.setdefault(item.location[0] if together else item.nodeid, []).append(item)
    taken = {item for tests in long.values() for item in tests}
    rest = [item for item in items if item not in taken]
    light = [item for item in rest if not cost(item)]
    ordered: list[pytest.Item] = []
    for number, heavy in enumerate(equal_parts([item for item in rest if cost(item)], processes)):
        first = [item for tests in list(long.values())[number::processes] for item in tests]
        before = len(heavy) // 3 if number % 2 else 0
        ordered += heavy[:before] + first + heavy[before:]
        room = max(0, len(items) * (number + 1) // processes - len(ordered))
        ordered += light[:room]
        del light[:room]
    return ordered + light


def cost(item: pytest.Item) -> int:
    """About how much processor time the test takes; 0 for hardly any."""
    return COSTS.get("/".join(item.nodeid.split("/", 2)[:2]), 0)


def equal_parts(items: Sequence[pytest.Item], count: int) -> Iterator[list[pytest.Item]]:
    """So many parts of the list, one after the other, that take about as long as one another."""
    whole, taken, part = sum(map(cost, items)), 0, list[pytest.Item]()
    made = 0
    for item in items:
        part.append(item)
        taken += cost(item)
        if taken * count >= whole * (made + 1) and made < count - 1:
            yield part
            part, made = [], made + 1
    yield part
    yield from ([] for _ in range(count - made - 1))
