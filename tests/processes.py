"""The processes below another one, any of which may end while they are looked at."""

from __future__ import annotations

import contextlib

import psutil


def below(
    pid: int, name: str = "", *, ended: bool = False, deep: bool = True
) -> list[psutil.Process]:
    """The processes below `pid`: those that run, or those that have ended, for which nobody waited.

    With a name only those that are called so, and unless `deep` only those that `pid` itself
    forked. A new process has the name of the one that forked it for a moment.
    """
    found = []
    for one in psutil.Process(pid).children(recursive=deep):
        with contextlib.suppress(psutil.NoSuchProcess):  # it has ended since it was listed
            has_ended = one.status() == psutil.STATUS_ZOMBIE
            if has_ended == ended and name in ("", one.name()):
                found.append(one)
    return found
