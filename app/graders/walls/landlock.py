"""Landlock: restricts the files that a process may open, permanently. Source: landlock(7)."""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable
from pathlib import Path

from app.graders.walls.syscalls import checked, syscall

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_RULE_PATH_BENEATH = 1
_PATH_BENEATH = struct.Struct("=Qi")  # the rights that are allowed, and the path's descriptor
# The file rights of Landlock by bit, and the version of its interface that added each.
_WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1 << 1, 1 << 2, 1 << 3, 1 << 14
_FILE_RIGHTS = {1: (1 << 13) - 1, 2: 1 << 13, 3: _TRUNCATE}
_TCP_BIND_AND_CONNECT = 0b11  # since version 4
_SCOPE_SOCKETS_AND_SIGNALS = 0b11  # since version 6


class _Ruleset(ctypes.Structure):
    _fields_ = [
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    ]


def supported_version() -> int:
    """The version of Landlock's interface that this kernel has.

    Raises:
        OSError: it has none, or it is switched off.
    """
    return checked(syscall(_CREATE_RULESET, None, 0, _ASK_VERSION))


def prepare_rules(readable: Iterable[Path] | None = None) -> int:
    """Make a set of rules for `restrict_files`. Returns its descriptor.

    The rules forbid writing, making and removing files, and running programs. With `readable`, a
    process can read only these files and the files below these directories; paths that do not exist
    are ignored. The null device can always be read and written.

    From version 4 Landlock also forbids TCP, from version 6 signals to and sockets of processes
    outside. All versions prevent a process from reading the memory and the environment of a
    process outside.

    Raises:
        OSError: this kernel has no Landlock, or it is switched off.
    """
    version = supported_version()
    rights = sum(bits for since, bits in _FILE_RIGHTS.items() if since <= version)
    if readable is None:
        rights &= ~(_READ_FILE | _READ_DIR)
    ruleset = _Ruleset(rights)
    size = 8
    if version >= 4:
        ruleset.handled_access_net, size = _TCP_BIND_AND_CONNECT, 16
    if version >= 6:
        ruleset.scoped, size = _SCOPE_SOCKETS_AND_SIGNALS, 24
    rules = checked(syscall(_CREATE_RULESET, ctypes.byref(ruleset), size, 0))
    try:
        _allow(rules, Path(os.devnull), rights & (_WRITE_FILE | _TRUNCATE | _READ_FILE))
        for path in readable or ():
            _allow(rules, path, _READ_FILE | _READ_DIR)
    except BaseException:
        os.close(rules)
        raise
    return rules


def restrict_files(rules: int) -> None:
    """Apply the rules permanently, and close them.

    They restrict only the calling thread and the threads that it starts later.
    """
    try:
        checked(syscall(_RESTRICT_SELF, rules, 0))
    finally:
        os.close(rules)


def _allow(handle: int, path: Path, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # a file that cannot be opened now needs no rule
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= ~_READ_DIR
        rule = _PATH_BENEATH.pack(rights, descriptor)
        checked(syscall(_ADD_RULE, handle, _RULE_PATH_BENEATH, rule, 0))
    finally:
        os.close(descriptor)
