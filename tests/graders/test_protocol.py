"""A grader's messages: what is written is read again, and nothing else is read."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.leaderboard import Standing
from app.domain.medals import Medal
from app.domain.verdict import Notice, Verdict, Violation, ViolationCode, WarningCode
from app.graders.messages.framing import LARGEST_MESSAGE
from app.graders.messages.protocol import JobResult, ProtocolError, Ready, Reply, read, write_reply
from app.graders.messages.results import CompetitionCheck, GraderFault, Rejected
from app.grading.graded import Graded

ID = "0123456789abcdef" * 2
numbers = st.floats(allow_nan=False, allow_infinity=False)
counts = st.integers(0, 10**9)
texts = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=60)
notices = st.builds(Notice, st.sampled_from(WarningCode), texts)
violations = st.builds(
    Violation, st.sampled_from(ViolationCode), texts, st.none() | texts, st.none() | counts,
    st.lists(texts, max_size=5).map(tuple),
)  # fmt: skip
verdicts = st.builds(
    Verdict, st.lists(violations, max_size=4).map(tuple), st.lists(notices, max_size=3).map(tuple)
)
standings = st.builds(
    Standing, score=numbers, medal=st.none() | st.sampled_from(Medal), better=st.none() | counts,
    equal=st.none() | counts, worse=st.none() | counts, teams=st.none() | counts,
    percentile=st.none() | numbers, above_median=st.none() | st.booleans(),
)  # fmt: skip
kinds = st.sampled_from(["memory", "crashed", "metric", "competition", "storage", "internal"])
problems = st.fixed_dictionaries({"file": texts, "key": texts, "message": texts})
answers = st.one_of(
    st.builds(
        Graded, numbers, st.none() | numbers, st.none() | standings,
        st.lists(notices, max_size=3).map(tuple),
    ),
    st.builds(Rejected, verdicts),
    st.builds(GraderFault, kinds, texts),
    st.builds(
        CompetitionCheck, st.lists(problems, max_size=3).map(tuple), st.none() | counts,
        st.none() | numbers, st.none() | numbers, st.none() | verdicts,
    ),
    verdicts,
)  # fmt: skip


def written(answer) -> bytes:
    return write_reply(ID, answer, 3, retire=True)


@settings(deadline=None)
@given(answers)
def test_an_answer_is_read_as_it_was_written(answer):
    reply = read(Reply, written(answer))
    assert (reply.request, reply.retire, reply.kept_bytes) == (ID, True, 3)
    assert reply.answer.result() == answer


@settings(deadline=None)
@given(st.binary(max_size=200) | st.text().map(str.encode) | st.just(b"[" * 100_000))
def test_garbage_is_no_message(data):
    for model in (Reply, JobResult):
        with pytest.raises(ProtocolError):
            read(model, data)


documents = st.recursive(
    st.none() | st.booleans() | numbers | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=12,
)


@settings(deadline=None)
@given(answers, st.data())
def test_a_message_of_which_any_part_was_replaced_is_read_as_that_or_not_at_all(answer, data):
    document = json.loads(written(answer))
    place = document
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            break
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], dict | list) or data.draw(st.booleans()):
            place[key] = data.draw(documents)
            break
        place = place[key]
    text = json.dumps(document)
    try:
        reply = read(Reply, text.encode())
    except ProtocolError:
        return
    result = reply.answer.result()
    assert isinstance(result, Graded | Rejected | GraderFault | CompetitionCheck | Verdict)
    if isinstance(result, Graded):
        assert math.isfinite(result.score)


@pytest.mark.parametrize(
    "part",
    [
        {"score": math.nan}, {"score": math.inf}, {"score": "0.5"}, {"score": True},
        {"score": None}, {"public_score": "1"}, {"other": 1}, {"type": "Graded"},
        {"type": "os.system"}, {"warnings": [{"code": "evil", "message": ""}]},
        {"warnings": [{"code": "blank_lines", "message": "one\ntwo"}]},
        {"warnings": [{"code": "blank_lines", "message": "x" * 4001}]},
        {"warnings": [{"code": "blank_lines", "message": "x"}] * 1001},
        {"standing": {"medal": "gold"}},
    ],
)  # fmt: skip
def test_a_reply_with_a_wrong_part_is_refused(part):
    document = json.loads(written(Graded(1.0, None, None, ())))
    document["answer"] |= part
    with pytest.raises(ProtocolError):
        read(Reply, json.dumps(document).encode())


def test_the_reason_never_quotes_the_message():
    data = json.dumps({"message": {"type": "scored", "score": "secret", "public_score": None}})
    with pytest.raises(ProtocolError) as caught:
        read(JobResult, data.encode())
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("kind", ["timeout", "not_started", "worker_lost", "K" * 10**6])
def test_a_grader_reports_no_fault_that_only_the_server_finds(kind):
    document = json.loads(written(GraderFault("metric", "")))
    document["answer"]["kind"] = kind
    with pytest.raises(ProtocolError):
        read(Reply, json.dumps(document).encode())


def test_texts_of_a_submission_are_made_printable_and_short():
    example = "a\tb\u202e\ud800" + "x" * 1000
    verdict = Verdict((Violation(ViolationCode.UNKNOWN_ID, "m" * 9000, examples=(example,)),))
    (violation,) = read(Reply, written(verdict)).answer.result().violations
    assert violation.examples[0].startswith("a\\tb\\u202e\\ud800xxx")
    assert len(violation.examples[0]) == 500
    assert len(violation.message) == 4000


def test_a_reply_with_too_many_violations_is_cut_to_the_size_of_a_message():
    one = Violation(ViolationCode.UNKNOWN_ID, "ü" * 3900, examples=("ü" * 490,) * 5)
    data = written(Rejected(Verdict((one,) * 5000)))
    assert len(data) <= LARGEST_MESSAGE
    assert len(read(Reply, data).answer.result().verdict.violations) == 30


def test_a_number_of_a_million_digits_is_refused_at_once():
    with pytest.raises(ProtocolError):
        read(JobResult, b'{"message":{"type":"scored","score":' + b"9" * 1_000_000 + b"}}")


def test_ready_is_read():
    assert read(Ready, b'{"start_error": "no"}').isolation is None
