"""Starts programs of another Python by a fork of a process that has loaded its libraries.

Why, and what differs from a start: docs/decisions/0039-tests-fork-the-command.md.
"""

from tests.forked_python.interpreter import ForkedPython

__all__ = ["ForkedPython"]
