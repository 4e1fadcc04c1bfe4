"""Names that look like others, and what is asked for by thousands of names."""

from __future__ import annotations

import httpx
import psutil
import pytest

from tests.api.conftest import Podium

ALIKE = (
    "a\u00a0b", "a\u2003b", "a\u3000b", "a  b", "a b\ufe0f", "a\u034f b", "a b\u3164", "a\u2800b",
    "a\u200b b", "a\u202eb", "a b\u00ad", "a b\ue000", "a b\u0378", "a b\U000e0100", "a b\u180b",
    "A\u030a", " a b", "a b ", ".", "..", "a\u2028b", "a\x85b", "\u212a", "a\u115fb",
)  # fmt: skip


def made(podium: Podium, **fields: str) -> httpx.Response:
    body = {"name": "plain", "agent": "a", "model": "m", **fields}
    return podium.admin.post("/v1/experiments", json=body)


@pytest.mark.parametrize("name", ALIKE, ids=ascii)
def test_a_name_that_looks_like_another_is_refused_in_words(podium: Podium, name: str) -> None:
    refused = made(podium, name=name)

    assert refused.status_code == 422, refused.text
    assert refused.json()["detail"]


@pytest.mark.parametrize(
    "name", ["a b", "Å", "二号 代理", "агент", "a.b_c-d+e:f", "r² (½)", "🤖", "हिन्दी"]
)
def test_names_of_all_scripts_are_taken(podium: Podium, name: str) -> None:
    assert made(podium, name=name).status_code in (200, 201)


@pytest.mark.parametrize("field", ["agent", "model"])
def test_agents_and_models_have_the_usual_blanks_and_letters(podium: Podium, field: str) -> None:
    for text in ("a\u00a0b", "a\u3164", "a\ufe0f", "a  b", "A\u030a", "\u212a"):
        refused = made(podium, **{field: text})
        assert refused.status_code == 422, ascii(text)
        assert refused.json()["detail"].startswith(field)


def test_few_of_thousands_of_unknown_parameters_are_looked_at(podium: Podium) -> None:
    """To look for names that are near to 6,000 unknown ones took seconds, without a key."""
    query = "&".join(f"limi{number}=1" for number in range(6000))
    server = psutil.Process(podium.server.process.pid)
    before = server.cpu_times().user

    answer = podium.client().get(f"/v1/log/entries?{query}")

    assert answer.status_code == 422
    assert answer.json()["detail"].count("did you mean limit?") == 5
    assert server.cpu_times().user - before < 1.0
