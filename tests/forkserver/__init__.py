"""Starts `podium` commands by a fork of a process that has loaded their modules.

Why, and what differs from the command itself: docs/decisions/0039-tests-fork-the-command.md.
"""

from tests.forkserver.process import PodiumProcess, run_podium

__all__ = ["PodiumProcess", "run_podium"]
