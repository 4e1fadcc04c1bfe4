"""The public log keeps reasons for good, so each says something."""

from __future__ import annotations

import pytest

from app.errors import Invalid
from app.services.public_log.reasons import check_reason


@pytest.mark.parametrize("reason", ["", " ", "\n\t", "\u2003"])
def test_a_reason_of_blanks_is_refused(reason: str) -> None:
    with pytest.raises(Invalid, match=r"^reason: "):
        check_reason(reason)


@pytest.mark.parametrize("reason", ["x", " x ", "\n."])
def test_any_word_is_a_reason(reason: str) -> None:
    check_reason(reason)
