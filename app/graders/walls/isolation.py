"""The walls around a competition's own code, and whether each of them works."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Isolation:
    """The walls around a metric.py, by test. `notes` give the reason where a wall is False.

    network: nothing can be reached, this machine's own addresses included.
    files: no file can be written, made or removed.
    reading: only the competition's version, the submission and Python's own files can be read.
    attributes: no file's mode, owner, times or extended attributes can be changed.
    locks: no file can be locked or leased.
    processes: no process can be started.
    server: its memory, environment and processor time cannot be read, and it gets no signal.
    limits: no limit, priority or processor of another process can be changed.
    tracing: no process can be traced.
    shared_memory: no memory, semaphore or queue can be shared with another process.
    keys: the kernel's keys cannot be used.
    privileges: no capability is left but root's to read files, and none can be gained.
    memory: one job cannot take more than its limit.
    orphans: a grader does not outlive its server.
    """

    network: bool = False
    files: bool = False
    processes: bool = False
    server: bool = False
    memory: bool = False
    orphans: bool = False
    reading: bool = False
    attributes: bool = False
    locks: bool = False
    limits: bool = False
    tracing: bool = False
    shared_memory: bool = False
    keys: bool = False
    privileges: bool = False
    notes: tuple[str, ...] = ()

    def weakest(self, other: Isolation) -> Isolation:
        """The walls that both have."""
        both = {name: getattr(self, name) and getattr(other, name) for name in WALLS}
        return Isolation(**both, notes=tuple(dict.fromkeys((*self.notes, *other.notes))))

    def missing(self) -> tuple[str, ...]:
        """The names of the missing walls.

        >>> Isolation(network=True).missing()[:2]
        ('files', 'processes')
        """
        return tuple(name for name in WALLS if not getattr(self, name))

    def reasons(self, wall: str) -> tuple[str, ...]:
        """The notes about one wall."""
        return tuple(note for note in self.notes if note.startswith(f"{wall}:"))


WALLS = tuple(field.name for field in fields(Isolation) if field.name != "notes")
