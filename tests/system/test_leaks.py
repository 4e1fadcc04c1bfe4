"""Nothing that a run's key can reach depends on the private answers.

The same requests go to competitions that differ in their answers alone. Apart from ids and times,
the answers over HTTP must be the same bytes; under the policy `public` they may differ in the
public score. Nor does a run's key see what an admin wrote for readers of results.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.conftest import Podium, Run
from tests.factories import good_submission, write_competition
from tests.server import PodiumServer
from tests.system.transcripts import Transcript, everything_a_run_can_ask

COLUMNS = {"target": {"kind": "number", "min": -1000, "max": 1000}}
USAGES = {
    "rows to search on": ("Search", "Private", "Public"),
    "no rows to search on": ("Public", "Private"),
}
WRITTEN_FOR_READERS = """
category = "kept-category"
complexity = "high"
tags = ["kept-tag"]
[[flags]]
code = "kept_code"
note = "kept-note: the labels lie in train.csv"
"""
GRADE = (
    "score",
    "search_score",
    "public_score",
    "medal",
    "better",
    "equal",
    "worse",
    "percentile",
    "above_median",
)
_numbers = itertools.count(1)


class Asked:
    """Transcripts of runs at competitions that differ in their answers; each is made once."""

    def __init__(self, podium: Podium, home: Path) -> None:
        self.podium = podium
        self.competition = functools.cache(
            lambda changed, usage: self._imported(home, changed, usage)
        )
        self.by_run = functools.cache(self._by_run)
        self.by_harness = functools.cache(lambda *args: self._by_run(*args, harness=True))

    def _imported(self, home: Path, changed: str, usage: str) -> Path:
        """A competition whose answers are changed: in the rows of one usage, or in `all` rows."""
        slug = f"asked-{os.getpid()}-{next(_numbers):03}"
        folder = write_competition(home / slug, columns=COLUMNS, seed=1, usage=USAGES[usage])
        write_for_readers(folder)
        answers = folder / "private" / "answers.csv"
        lines = answers.read_text().splitlines()
        if changed == "all":
            other = write_competition(home / "other" / slug, columns=COLUMNS, seed=2,
                                      usage=USAGES[usage])  # fmt: skip
            assert answers.read_bytes() != (other / "private" / "answers.csv").read_bytes()
            lines = (other / "private" / "answers.csv").read_text().splitlines()
        elif changed:
            assert sum(line.endswith(changed) for line in lines) > 1
            lines = [f"{line.split(',')[0]},7.5,{changed}" if line.endswith(changed) else line
                     for line in lines]  # fmt: skip
        answers.write_text("\n".join(lines) + "\n")
        assert self.podium.send_folder(folder).status_code == 201
        return folder

    def _by_run(
        self, policy: str, changed: str = "", usage: str = "rows to search on", *,
        harness: bool = False,
    ) -> Transcript:  # fmt: skip
        file = good_submission(self.competition("", usage), shift=0.5)
        folder = self.competition(changed, usage)
        run = self.podium.run(folder, feedback=policy)
        if harness:
            key = self.podium.harness_key(run.document["experiment"])
            run = Run(run.id, run.document, self.podium.client(key))
        return everything_a_run_can_ask(run, folder.name, file)


def write_for_readers(folder: Path) -> None:
    toml = folder / "competition.toml"
    top, rest = toml.read_text().split("[", 1)
    head, flags = WRITTEN_FOR_READERS.split("[[", 1)
    toml.write_text(f"{top}{head}[{rest}\n[[{flags}")


@pytest.fixture(scope="module")
def asked(server: PodiumServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    home = tmp_path_factory.mktemp("asked")
    with contextlib.ExitStack() as clients:
        yield Asked(Podium(server, home, clients), home)


@pytest.mark.parametrize("policy", ["none", "validity", "search", "public"])
def test_a_runs_answers_do_not_depend_on_private_answers(asked: Asked, policy: str) -> None:
    usage = "no rows to search on" if policy == "search" else "rows to search on"
    one, two = (asked.by_run(policy, changed, usage) for changed in ("", "all"))

    for (question, answer), (_, other) in zip(one, two, strict=True):
        if policy == "public":
            assert hidden(answer, "public_score") == hidden(other, "public_score"), question
        else:
            assert answer == other, question
    if policy == "public":
        assert public_scores(one) != public_scores(two)


@pytest.mark.parametrize("policy", ["none", "validity", "search", "public"])
@pytest.mark.parametrize("differs", ["Search", "Private"])
def test_rows_to_search_on_are_told_by_the_policy_search_alone_and_tell_of_no_other_row(
    asked: Asked, policy: str, differs: str
) -> None:
    transcripts = [asked.by_run(policy, rows) for rows in ("", differs)]

    told = [re.findall(r'"search_score":([0-9.]+)', "".join(a for _, a in t)) for t in transcripts]
    if policy == "search" and differs == "Search":
        assert told[0]
        assert told[0] != told[1]
        transcripts = [[(q, hidden(a, "search_score")) for q, a in t] for t in transcripts]
    for (question, answer), (_, other) in zip(*transcripts, strict=True):
        assert answer == other, question
    assert bool(told[0]) == (policy == "search")


def test_a_harness_sees_of_the_answers_the_grades_of_its_runs_alone(asked: Asked) -> None:
    transcripts = [asked.by_harness("none", changed) for changed in ("", "all")]

    graded = 0
    for (question, answer), (_, other) in zip(*transcripts, strict=True):
        graded += answer != other
        for field in GRADE:
            answer, other = hidden_value(answer, field), hidden_value(other, field)
        assert answer == other, question
    assert graded


@pytest.mark.parametrize(
    ("policy", "harness"),
    [("none", False), ("validity", False), ("public", False), ("full", False), ("public", True)],
)
def test_a_run_sees_nothing_that_was_written_for_readers_of_results(
    asked: Asked, policy: str, harness: bool
) -> None:
    seen = asked.by_harness(policy) if harness else asked.by_run(policy)
    slug = asked.competition("", "rows to search on").name
    admins = asked.podium.admin.get(f"/v1/competitions/{slug}").json()

    assert admins["flags"] == [{"code": "kept_code", "note": admins["flags"][0]["note"]}]
    assert "kept-note" in admins["flags"][0]["note"]
    assert admins["tags"] == ["kept-tag"]
    hidden_words = ["kept-note", "kept-tag", *([] if policy == "full" else ["kept_code"])]
    for question, answer in seen:
        assert not [word for word in hidden_words if word in answer], (question, answer)
        assert '"suites":["' not in answer, question
        assert '"complexity":"high"' not in answer, question


def hidden(answer: str, field: str) -> str:
    return re.sub(rf'"{field}":[-0-9.e]+', f'"{field}":0', answer)


def hidden_value(answer: str, field: str) -> str:
    return re.sub(rf'"{field}":([-0-9.e]+|true|false|null|"[a-z]+")', f'"{field}":0', answer)


def public_scores(transcript: Transcript) -> list[str]:
    return [s for _, answer in transcript for s in re.findall(r'"public_score":[-0-9.e]+', answer)]
