"""A key that somebody puts where no key belongs is masked in the log, whatever its role."""

from __future__ import annotations

import json
import logging

import pytest

from app.domain.states import Role
from app.logs import JsonLines
from app.services.new_keys import new_key
from tests.api.conftest import Podium


@pytest.mark.parametrize("role", Role)
def test_no_line_of_the_log_has_a_key(role: Role) -> None:
    key, _ = new_key(role, "a key")
    record = logging.makeLogRecord({"msg": f"got {key}!", "path": f"/v1/{key}/x", "args": ()})

    line = JsonLines(lambda: "-").format(record)

    secret = key.removeprefix(f"pod_{role.value}_")
    assert secret not in line
    assert json.loads(line)["path"] == f"/v1/pod_{role.value}_***/x"


def test_a_harnesss_key_in_an_address_is_masked(podium: Podium) -> None:
    key = podium.harness_key(podium.experiment())

    podium.admin.get(f"/v1/competitions/{key}")
    podium.client(key).get("/v1/runs", params={"cursor": key})

    log = podium.server.log.read_text()
    assert key not in log
    assert "pod_harness_***" in log
