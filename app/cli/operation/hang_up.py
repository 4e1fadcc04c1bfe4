"""End in order when the terminal closes."""

from __future__ import annotations

import signal


def end_at_hang_up() -> None:
    """Take the first SIGHUP for a SIGTERM. Where it is ignored, as under `nohup`, it stays so.

    A terminal that closes may send two, by its shell and by the kernel, and a second SIGTERM ends a
    worker at once.
    """

    def end(*_: object) -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.raise_signal(signal.SIGTERM)

    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, end)
