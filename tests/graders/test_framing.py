import socket
import threading
import time

import pytest

from app.graders.messages.framing import (
    LARGEST_MESSAGE,
    TooLargeMessage,
    is_anything_waiting,
    receive,
    receive_before,
    send,
    send_before,
)


def test_a_message_larger_than_the_sockets_buffer_arrives_whole():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sender = threading.Thread(target=send, args=(theirs, b"x" * LARGEST_MESSAGE))
        sender.start()
        data = receive_before(ours, time.monotonic() + 10, lambda: True)
        sender.join()
    assert data == b"x" * LARGEST_MESSAGE


def test_bytes_that_nobody_asked_for_are_noticed_and_left():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert not is_anything_waiting(ours)
        theirs.sendall(b"x")
        assert is_anything_waiting(ours)
        assert ours.recv(10) == b"x"
        theirs.close()
        with pytest.raises(EOFError):
            is_anything_waiting(ours)


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
        theirs.sendall((LARGEST_MESSAGE + 1).to_bytes(8, "little"))
        with pytest.raises(TooLargeMessage):
            receive(ours)


def test_a_large_message_is_sent_as_the_other_side_reads_it():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        read: list[bytes] = []
        reader = threading.Thread(target=lambda: read.append(receive(theirs)))
        reader.start()
        send_before(ours, b"x" * LARGEST_MESSAGE, time.monotonic() + 10)
        reader.join()
    assert read == [b"x" * LARGEST_MESSAGE]


def test_sending_to_a_side_that_does_not_read_ends_at_the_deadline():
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(TimeoutError):
        send_before(ours, b"x" * LARGEST_MESSAGE, time.monotonic() + 0.1)


def test_a_message_that_comes_in_parts_arrives_whole():
    ours, theirs = socket.socketpair()

    def send_slowly() -> None:
        for part in (b"\x06\0\0", b"\0\0\0\0\0par", b"ts!"):
            theirs.sendall(part)
            time.sleep(0.05)

    with ours, theirs:
        sender = threading.Thread(target=send_slowly)
        sender.start()
        assert receive_before(ours, time.monotonic() + 10, lambda: True) == b"parts!"
        sender.join()


def test_waiting_at_a_closed_channel_ends():
    ours, theirs = socket.socketpair()
    with theirs:
        ours.close()
        with pytest.raises(EOFError):
            receive_before(ours, time.monotonic() + 10, lambda: True)
