"""What had to wait is called in the order of its times, each once."""

from __future__ import annotations

import threading

from app.services.grading.postponed import Postponed


def test_what_is_due_first_is_called_first_and_equal_times_in_their_order() -> None:
    postponed, called, end = Postponed(), list[str](), threading.Event()
    postponed.start()

    postponed.add(0.3, end.set)
    postponed.add(0.2, lambda: called.append("late"))
    postponed.add(0.0, lambda: called.append("first"))
    postponed.add(0.0, lambda: called.append("second"))

    assert end.wait(30)
    assert called == ["first", "second", "late"]


def test_what_was_added_before_the_start_is_called_after_it() -> None:
    postponed, end = Postponed(), threading.Event()
    postponed.add(0.0, end.set)
    assert not end.is_set()

    postponed.start()

    assert end.wait(30)


def test_an_error_of_one_keeps_no_other_from_being_called() -> None:
    postponed, end = Postponed(), threading.Event()
    postponed.start()

    def fail() -> None:
        raise ZeroDivisionError

    postponed.add(0.0, fail)
    postponed.add(0.0, end.set)

    assert end.wait(30)


def test_a_second_start_starts_no_second_thread() -> None:
    postponed = Postponed()
    before = set(threading.enumerate())

    postponed.start()
    postponed.start()

    assert len(set(threading.enumerate()) - before) == 1
