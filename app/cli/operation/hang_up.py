"""End in order when the terminal closes."""

from __future__ import annotations

import signal


def end_at_hang_up() -> None:
    """Treat the first SIGHUP as a SIGTERM. If it is ignored, as under `nohup`, it stays ignored.

    A closing terminal may cause two, from its shell and from the kernel, and a second SIGTERM would
    end a worker at once.
    """

    def end(*_: object) -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.raise_signal(signal.SIGTERM)

    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, end)
