import os
import pickle
import random
import socket
import threading
import time

import pytest

from app.domain.verdict import Verdict, Violation, ViolationCode
from app.graders.cache import CacheCounts
from app.graders.messages import Reply, read_message
from app.graders.outcomes import Refused
from app.graders.wire import receive, receive_before, send


class Evil:
    def __reduce__(self):
        return os.system, ("true",)


def test_a_message_arrives_as_it_was_sent():
    refusal = Refused(Verdict((Violation(ViolationCode.ROW_COUNT, "too few", examples=("a",)),)))
    reply = Reply(refusal, CacheCounts(hits=3), retire=False)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        send(theirs, reply)
        assert read_message(receive(ours)) == reply


def test_words_arrive_however_this_python_pickles_them(monkeypatch):
    # As Python 3.11.2 does it, which Debian 12 has.
    by_name = lambda word, protocol: (getattr, (type(word), word.name))  # noqa: E731
    monkeypatch.setattr(ViolationCode, "__reduce_ex__", by_name)
    with pytest.raises(pickle.UnpicklingError):
        read_message(pickle.dumps(ViolationCode.ROW_COUNT))

    ours, theirs = socket.socketpair()
    with ours, theirs:
        send(theirs, [ViolationCode.ROW_COUNT])
        assert read_message(receive(ours)) == [ViolationCode.ROW_COUNT]


def test_a_message_larger_than_the_sockets_buffer_arrives_whole():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sender = threading.Thread(target=send, args=(theirs, "x" * 5_000_000))
        sender.start()
        data = receive_before(ours, time.monotonic() + 10, lambda: True)
        sender.join()
    assert read_message(data) == "x" * 5_000_000


def test_an_object_that_would_run_code_is_not_unpickled():
    with pytest.raises(pickle.UnpicklingError):
        read_message(pickle.dumps(Evil()))


@pytest.mark.parametrize("data", [b"", b"nonsense", b"\x80\x05.", random.Random(64).randbytes(64)])
def test_garbage_is_no_message(data):
    with pytest.raises(pickle.UnpicklingError):
        read_message(data)


def test_waiting_ends_at_the_deadline():
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(TimeoutError):
        receive_before(ours, time.monotonic() + 0.1, lambda: True)


def test_half_a_message_does_not_hold_up_the_deadline():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"\x10\0\0\0\0\0\0\0half")
        with pytest.raises(TimeoutError):
            receive_before(ours, time.monotonic() + 0.1, lambda: True)


def test_waiting_ends_when_the_other_side_is_dead_though_its_socket_is_open():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        started = time.monotonic()
        with pytest.raises(EOFError):
            receive_before(ours, time.monotonic() + 60, lambda: False)
        assert time.monotonic() - started < 5


def test_a_message_of_impossible_size_is_refused():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall((1 << 60).to_bytes(8, "little"))
        with pytest.raises(EOFError):
            receive(ours)
