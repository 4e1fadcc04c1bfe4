"""The ports of servers that tests start."""

import itertools
from pathlib import Path

import pytest

from tests.server import FEWEST_PORTS, FIRST_PORT, free_ports, own_ports

FIRST_OF_CONNECTIONS = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])


def test_ports_differ_and_no_connection_gets_one() -> None:
    if FIRST_OF_CONNECTIONS < FIRST_PORT + FEWEST_PORTS:
        pytest.skip("this system gives connections nearly all ports")
    found = [*free_ports(20), *free_ports(20)]

    assert len(set(found)) == 40
    assert FIRST_PORT <= min(found) < max(found) < FIRST_OF_CONNECTIONS


def test_processes_of_one_run_have_no_port_in_common(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "4")
    parts: list[set[int]] = []
    for number in range(4):
        monkeypatch.setenv("PYTEST_XDIST_WORKER", f"gw{number}")
        parts.append(set(itertools.islice(own_ports(), 20_000)))

    assert all(not one & other for one, other in itertools.combinations(parts, 2))
    assert min(map(len, parts)) >= FEWEST_PORTS
