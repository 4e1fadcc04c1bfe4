"""Send DataFrames from the process of a competition to the process of a job.

The sender runs Podium's code only, so its pickles can be trusted. Nothing is unpickled in the other
direction. The memory of columns is sent as it is, without a copy of it in the pickle.
"""

from __future__ import annotations

import os
import pickle
import socket
import struct
from collections.abc import Sequence

import pandas as pd

_SIZE = struct.Struct("<Q")
_AT_ONCE = 1 << 16  # bytes; joining them costs less than a call for each column


def send_frames(channel: socket.socket, frames: Sequence[pd.DataFrame]) -> None:
    """Send the frames of one job.

    Raises:
        OSError: the other side is gone.
    """
    columns: list[pickle.PickleBuffer] = []
    outline = pickle.dumps(list(frames), protocol=5, buffer_callback=columns.append)
    parts = [memoryview(outline), *(column.raw() for column in columns)]
    sizes = b"".join(_SIZE.pack(part.nbytes) for part in parts)
    head = _SIZE.pack(len(parts)) + sizes
    if sum(part.nbytes for part in parts) <= _AT_ONCE:
        channel.sendall(b"".join((head, *parts)))
        return
    channel.sendall(head)
    for part in parts:
        channel.sendall(part)


def receive_frames(descriptor: int) -> list[pd.DataFrame]:
    """Wait for the frames of one job.

    Raises:
        EOFError: the other side is gone.
    """
    (count,) = _SIZE.unpack(_read(descriptor, _SIZE.size))
    sizes = _read(descriptor, count * _SIZE.size)
    outline, *columns = [_read(descriptor, size) for (size,) in _SIZE.iter_unpack(sizes)]
    frames: list[pd.DataFrame] = pickle.loads(outline, buffers=columns)  # noqa: S301 (ours)
    return frames


def _read(descriptor: int, size: int) -> bytearray:
    data = bytearray(size)
    rest = memoryview(data)
    while rest:
        count = os.readv(descriptor, [rest])
        if not count:
            raise EOFError
        rest = rest[count:]
    return data
