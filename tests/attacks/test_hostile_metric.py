"""A metric.py that forges replies, or leaves something behind: nobody else's numbers change.

`SEND` writes to every open file of the process: the metric does not know its channel.
"""

import pickle
import socket
import struct
from dataclasses import replace

import pytest

from app.domain.medals import Medal
from app.graders.messages.protocol import Reply, read
from app.graders.messages.results import GraderFault, Rejected
from app.grading.graded import Graded
from tests.attacks.conftest import SECONDS, metric

pytestmark = pytest.mark.usefixtures("others_are_graded_as_ever")
SEND = """
import os, struct, sys, time

def send(data):
    for number in range(3, 200):
        try:
            os.write(number, struct.pack("<Q", len(data)) + data)
        except OSError:
            pass
"""
GOLD = (
    b'{"request":"' + b"0" * 32 + b'","answer":{"type":"graded","score":0.0,"public_score":null,'
    b'"standing":null,"warnings":[]},"kept_bytes":0,"retire":false}'
)
SCORED = b'{"message":{"type":"scored","score":0.5,"public_score":null}}'


def test_the_forged_grade_has_the_form_of_a_reply():
    assert read(Reply, GOLD).answer.result() == Graded(0.0, None, None, ())


def rewrites_medals() -> bytes:
    """A pickle that replaces the property `value` of the class of medals."""
    state = pickle.dumps((None, {"value": "gold"}), 2)[2:-1]
    return b"\x80\x02capp.domain.medals\nMedal\n" + state + b"b."


@pytest.mark.parametrize(
    "data",
    [
        rewrites_medals(),
        b"\x80\x04}N" + b"\x85" * 900_000 + b"Ns.",  # a deep tuple as a key
        b"\x80\x04Nr\x00\x00\x00\x10.",  # an index of 2 ** 28 in the memo
        pickle.dumps(print),
        b"[" * 1_000_000,
        b'{"message":' * 80_000,
        b'{"message":{"type":"scored","score":' + b"9" * 1_000_000 + b"}}",
        b'{"message":{"type":"scored","score":NaN,"public_score":null}}',
        b'{"message":{"type":"scored","score":1e999,"public_score":null}}',
        b'{"message":{"type":"scored","score":1,"public_score":1}}',
        b'{"message":{"type":"graded","score":1,"public_score":null,"standing":null,"warnings":[]}}',
        b'{"message":{"type":"rejected","violations":[],"warnings":[]}}',
        b'{"message":{"type":"verdict","violations":[],"warnings":[]}}',
        b'{"message":{"type":"fault","kind":"' + b"K" * 100_000 + b'","place":""}}',
        b'{"message":{"type":"fault","kind":"metric","place":"' + b"p" * 100_000 + b'"}}',
        b'{"message":{"type":"fault","kind":"metric","place":"one\\ntwo"}}',
        '{"message":{"type":"fault","kind":"metric","place":"one\u200ftwo"}}'.encode(),
        '{"message":{"type":"fault","kind":"metric","place":"one\u061ctwo"}}'.encode(),
        (
            b'{"message":{"type":"check","problems":[],"rows":3,"answers_score":1,'
            b'"sample_score":1,"sample_verdict":null}}'
        ),
        GOLD,
        b"",
    ],
    ids=range(21),
)
def test_a_forged_result_fails_its_own_job_alone(attack, data):
    before = SEND + f"\nDATA = {data!r}"
    fault = attack("send(DATA); time.sleep(60)", before)
    assert isinstance(fault, GraderFault)
    assert fault.kind == "crashed"
    assert len(fault.place) < 100
    assert fault.place.isprintable()
    assert [medal.value for medal in Medal] == ["gold", "silver", "bronze"]


FAULT = '{"message":{"type":"fault","kind":"%s","place":"here"}}'


def test_a_metric_cannot_blame_podium_the_store_or_the_folder(pool, attack, competition):
    """Those kinds count for no run, and some are tried again. Its own kind counts."""
    for kind in ("internal", "storage", "competition"):
        forged = (FAULT % kind).encode()
        assert attack(f"send({forged!r}); time.sleep(60)", SEND) == GraderFault("metric", "here")
    for forged, fault in (
        ((FAULT % "internal").encode(), GraderFault("metric", "here")),
        (SCORED, GraderFault("crashed", "scores, where a check was asked for")),
    ):
        folder, _ = competition(f"{SEND}\nsend({forged!r}); time.sleep(60)\n", usage=None)
        assert pool.check_competition(folder).result(60) == fault


CHECKED = (
    b'{"message":{"type":"check","problems":[],"rows":999,"answers_score":0.5,"sample_score":0.5,'
    b'"sample_verdict":null}}'
)


def test_a_metric_cannot_state_that_the_files_of_its_competition_are_right(pool, competition):
    """An import would take a sample submission that no file of an agent can be compared with."""
    folder, _ = competition(f"{SEND}\nsend({CHECKED!r}); time.sleep(60)\n", usage=None)
    found = pool.check_competition(folder).result(60)
    assert (found.problems, found.rows, found.answers_score) == ((), 20, 0.5)
    assert found.sample_verdict.is_valid

    for name in ("public/sample_submission.csv", "private/answers.csv"):
        file = folder / name
        data = file.read_bytes()
        file.write_bytes(b"\xff\xfe")
        files = [one["file"] for one in pool.check_competition(folder).result(60).problems]
        assert files == [name]
        file.write_bytes(data)


@pytest.mark.parametrize("size", [1 << 21, 1 << 30, (1 << 64) - 1])
def test_a_result_that_announces_a_large_size_is_not_read(attack, size):
    body = f"[os.write(n, struct.pack('<Q', {size})) for n in range(3, 60) if is_open(n)]\nreturn 0"
    before = (
        SEND
        + """
def is_open(number):
    try:
        return bool(os.fstat(number))
    except OSError:
        return False
"""
    )
    assert attack(body, before) == GraderFault("crashed", "too large a message")


def test_a_metric_may_decide_its_own_score_and_nothing_else(attack):
    """A forged result of the right form is what the metric could have returned."""
    found = attack(f"send({SCORED!r}); time.sleep(60)", SEND)

    assert replace(found, sketch=None) == Graded(0.5, None, None, ())


def test_results_that_are_sent_ahead_are_never_read(pool, attack, competition):
    for data in (GOLD, SCORED):
        attack(f"send({SCORED!r}); send({data!r}); send({data!r}); time.sleep(60)", SEND)
        folder, file = competition(shift=0.5)
        graded = pool.grade(folder, file).result(60)
        assert (graded.score, graded.standing.medal) == (pytest.approx(0.5), None)


def test_a_reply_that_waits_when_a_job_is_sent_gets_the_grader_replaced(pool, competition):
    """As if somebody had written into the channel of a grader: its next job goes to a fresh one."""
    folder, file = competition(shift=0.5)
    (slot, *_) = pool._slots  # noqa: SLF001
    process = slot.process
    process._channel.close()  # noqa: SLF001
    process._channel, theirs = socket.socketpair()  # noqa: SLF001
    with theirs:
        theirs.sendall(struct.pack("<Q", len(GOLD)) + GOLD)
        assert pool.grade(folder, file).result(60).score == pytest.approx(0.5)
    assert slot.process.pid != process.pid


PATCHES = """
import builtins, math, threading, _thread, time
import numpy, pandas
from app.graders.messages import protocol
from app.graders.program import faults, job_process
from app.grading import scorer
from app.domain import leaderboard

scorer.Scorer.score = scorer.Scorer.score_rows = lambda *_: 0.0
leaderboard.Leaderboard.standing = lambda *_: None
protocol.write = protocol.read = lambda *_: b""
math.isfinite = lambda _: True
pandas.DataFrame.__getitem__ = lambda *_: 0.0
numpy.asarray = None
builtins.open = builtins.sum = None
for _ in range(20):
    _thread.start_new_thread(time.sleep, (3600,))
"""


def test_what_a_metric_patches_ends_with_its_job(pool, competition):
    folder, file = competition(metric("return 3.0", PATCHES), leaderboard=None, usage=None)
    outcomes = [pool.grade(folder, file).result(60) for _ in range(3)]
    # Its process cannot even write its reply. The next job's can: see `others_are_graded_as_ever`.
    assert [(type(outcome), outcome.kind) for outcome in outcomes] == [(GraderFault, "crashed")] * 3


def test_nothing_reaches_the_next_job_of_the_same_competition(pool, competition):
    """Modules, builtins, environment, threads and memory are as the first job found them."""
    body = """
    seen = getattr(builtins, "seen", 0) + len(getattr(sys, "left", ())) + ("LEFT" in os.environ)
    seen += threading.active_count() - 1 + len(answers.attrs.get("left", ()))
    builtins.seen, sys.left, os.environ["LEFT"] = 1, [1], "1"
    answers.attrs["left"] = [1]
    answers.loc[:, "target"] = 0.0
    threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
    return float(seen) + float(first)
    """
    before = """
    import builtins, os, sys, threading, time
    first = getattr(sys, "loaded", 0)
    sys.loaded = 1
    """
    folder, file = competition(metric(body, before), leaderboard=None, usage=None)
    assert [pool.grade(folder, file).result(60).score for _ in range(4)] == [0.0] * 4


def test_nothing_reaches_other_jobs_by_the_standard_streams(pool, competition):
    """Their flags are those of an open file, which processes have in common that inherited it."""
    body = """
    seen = [fcntl.fcntl(stream, fcntl.F_GETFL) & LEFT for stream in range(3)]
    for stream in range(3):
        fcntl.fcntl(stream, fcntl.F_SETFL, LEFT)
    return float(sum(map(bool, seen)))
    """
    before = "import fcntl, os\nLEFT = os.O_APPEND | os.O_NONBLOCK"
    for _ in range(2):
        folder, file = competition(metric(body, before), leaderboard=None, usage=None)
        assert pool.check_competition(folder).result(60).sample_score == 0.0
        assert [pool.grade(folder, file).result(60).score for _ in range(2)] == [0.0] * 2


SEARCHES = """
import ctypes, os, re

libc = ctypes.CDLL(None)
libc.write.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
libc.write.restype = ctypes.c_ssize_t
REACH, PAGE = 1 << 26, 4096

def found(pattern):
    reader, writer = os.pipe()
    around = {id(object()) // REACH, id("x" * 100) // REACH, id([1] * 1000) // REACH}
    spans = [((near - 1) * REACH, (near + 2) * REACH) for near in around]
    pages = {page for span in spans for page in range(*span, PAGE)}
    # The kernel says which pages are there: writing others to the pipe is an error, and no crash.
    there = (page for page in pages if libc.write(writer, page, PAGE) == PAGE)
    return float(sum(len(re.findall(pattern, os.read(reader, PAGE))) for _ in there))
"""


def test_nothing_of_another_competition_is_in_the_memory_of_a_job(pool, competition):
    """What a grader had passed on was: scores, and the cells that a rejection names."""
    honest = metric("return float((answers['target'] - submission['target']).abs().sum())")
    folder, file = competition(honest, leaderboard=None, usage=None)
    lines = ["id,target", *(f"r{row},of-another-{row}" for row in range(1, 21))]
    file.write_text("\n".join(lines))
    for _ in range(3):
        assert isinstance(pool.grade(folder, file).result(60), Rejected)

    body = "return found(rb'of-[a]nother-[0-9]')"  # which is not in the pattern itself
    folder, file = competition(metric(body, SEARCHES), leaderboard=None, usage=None)
    assert pool.check_competition(folder).result(60).answers_score == 0.0
    assert pool.grade(folder, file).result(60).score == 0.0
    own = metric("kept = [f'kept-{row}' for row in range(9)]; return found(rb'k[e]pt-8')", SEARCHES)
    assert pool.grade(*competition(own, leaderboard=None, usage=None)).result(60).score > 0.0


def test_a_metric_that_patches_the_grader_does_not_stop_later_imports(pool, competition):
    patching, _ = competition(metric("return 1.0", PATCHES), leaderboard=None, usage=None)
    fault = pool.check_competition(patching).result(60)
    assert (type(fault), fault.kind) == (GraderFault, "crashed")
    good, _ = competition()
    assert pool.check_competition(good).result(60).problems == ()
    honest = metric("return float((answers['target'] - submission['target']).abs().sum())")
    folder, _ = competition(honest, leaderboard=None, usage=None)
    checked = pool.check_competition(folder).result(60)
    assert (checked.problems, checked.answers_score) == ((), 0.0)


@pytest.mark.parametrize("module", ["numpy.f2py.__main__", "pandas.tests.io.test_spss"])
def test_a_command_or_test_among_the_imports_ends_no_grading(pool, competition, module):
    """Well-known modules are imported before a job. A command ends its process.

    A test that pytest would skip raises what is no Exception: each grading was a fault of Podium's.
    """
    before = f"if 0:\n    import {module}"
    folder, file = competition(metric("return 1.0", before), leaderboard=None, usage=None)
    assert pool.grade(folder, file).result(60).score == 1.0


def test_the_process_of_built_in_metrics_never_loads_a_metric_py(pool, competition):
    before = set(pool.pids("grade"))
    folder, file = competition(metric("os._exit(0)", "import os"), leaderboard=None, usage=None)
    for _ in range(2):
        assert pool.grade(folder, file).result(60) == GraderFault("crashed", "exit status 0")
    assert set(pool.pids("grade")) == before


def test_the_name_of_an_exception_is_bounded_and_printable(attack):
    fault = attack('raise type("E" * 5_000_000 + "\\n\\x1b[2J", (Exception,), {})')
    assert fault.kind == "metric"
    assert len(fault.place) <= 300
    assert fault.place.isprintable()


def test_a_job_that_closes_its_channel_and_stays_is_ended_at_once(attack):
    fault = attack("os.closerange(3, 60); time.sleep(3600)")
    assert fault == GraderFault("crashed", "signal 9")
    assert SECONDS > 2
