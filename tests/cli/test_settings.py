"""Commands with wrong settings: a sentence, exit status 1, no traceback, nothing made."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_places import podium_in


@pytest.mark.parametrize(
    ("words", "variables", "said"),
    [
        (["serve"], {"PODIUM_PORT": "abc"}, "PODIUM_PORT is 'abc': expected a whole number"),
        (["keys", "list"], {"PODIUM_PROT": "1"}, "did you mean PODIUM_PORT?"),
        (["check"], {"PODIUM_COMPETITIONS_DIR": "/nowhere"}, "PODIUM_COMPETITIONS_DIR is"),
        (["serve"], {"PODIUM_DATA_DIR": "/dev/null/x"}, "PODIUM_DATA_DIR is '/dev/null/x'"),
        (["gc"], {"PODIUM_GC_AGE_HOURS": "old"}, "PODIUM_GC_AGE_HOURS is 'old': expected"),
        (["verify"], {"PODIUM_DATA_DIR": "x" * 5000}, "letters is too long"),
        (["worker"], {"PODIUM_GRADERS": "-1"}, "PODIUM_GRADERS is '-1': expected"),
    ],
)
def test_a_wrong_setting_is_a_sentence(
    tmp_path: Path, words: list[str], variables: dict[str, str], said: str
) -> None:
    done = podium_in(tmp_path, *words, **variables)

    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert "pydantic" not in done.stderr
    assert len(done.stderr.splitlines()) <= 2
    assert list(tmp_path.iterdir()) == []
