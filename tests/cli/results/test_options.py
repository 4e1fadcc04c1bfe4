"""Options that do not go together or have no such value are refused in a sentence."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Command

TIME = "2026-05-01T12:00:00Z"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("report a --latex --format csv", "Name one form, not latex and csv."),
        ("report a --medals --threshold 0.1", "leave out --medals"),
        ("report a --medals --baselines known", "leave out --medals"),
        ("report a --medals --starter b", "leave out --medals"),
        ("report a --success --group-by tag", "--group-by is for medal rates"),
        ("report a --threshold 0.1 --group-by tag", "--group-by is for medal rates"),
        (f"report a --success --as-of {TIME}", "--as-of is for medal rates"),
        ("report a b --success", "reported for one experiment at a time"),
        ("report a --success --columns experiment", "--columns is for a board of medal rates"),
        ("report a --as-of 2026-05-01T12:00:00", "is not a time with a zone"),
        ("report a --as-of soon", "is not a time with a zone"),
        ("compare a", "Name at least two different experiments."),
        ("compare a a", "Name at least two different experiments."),
        ("compare a b --rate odd", "--rate is one of any_medal"),
        ("verify receipt.json --sample 3", "--sample and --resume are for the Podium here"),
        ("verify --log proof.json --resume", "--sample and --resume are for the Podium here"),
        ("verify --signature a.sig", "are for a receipt or an answer about the log"),
        ("verify --allowed-signers a", "are for a receipt or an answer about the log"),
        ("verify --revoked a", "are for a receipt or an answer about the log"),
        ("verify --checkpoint a", "are for a receipt or an answer about the log"),
    ],
)
def test_options_that_do_not_go_together_are_told(podium: Command, words: str, told: str) -> None:
    done = podium(*words.split())
    assert (done.returncode, done.stdout) == (1, "")
    assert told in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("report a --threshold 0", "--threshold"),
        ("prepare a", "give one of --raw, --from, --kaggle and --verify"),
        ("prepare a --raw . --kaggle", "give one of --raw, --from, --kaggle and --verify"),
        ("prepare a --raw . --delete-archives", "go with --kaggle"),
        ("prepare a --raw . --again", "go with --kaggle"),
        ("prepare a --raw . --suite mle-bench", "go with --kaggle"),
        ("prepare --kaggle", "name the competitions to prepare"),
    ],
)
def test_options_that_are_wrong_in_themselves_are_mistakes_of_the_command_line(
    podium: Command, words: str, told: str
) -> None:
    done = podium(*words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert told in " ".join(done.stderr.split())
