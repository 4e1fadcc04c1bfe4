"""What a grade names of the program that made it: its version, and its environment.

The version is the release and a digest of the code that decides scores, the environment the
versions of Python and of the libraries on which scores depend.
"""

from __future__ import annotations

import functools
import hashlib
import platform
from importlib.metadata import version
from itertools import chain
from pathlib import Path

from app import __version__

# The code on which a score depends besides competition and libraries: how files and answers are
# read, the metrics, and how a grader runs them: the settings of its libraries, what it reads, and
# the tables that a metric.py gets. Order and names are part of the digest.
DECISIVE_PACKAGES = ("domain", "grading", "metrics")
DECISIVE_MODULES = (
    "graders/runtime_env.py",
    "graders/program/tasks.py",
    "graders/program/version_loader.py",
    "graders/program/competition_process.py",
    "graders/program/job_process.py",
    "graders/program/job_frames.py",
)
DECISIVE_LIBRARIES = ("numpy", "pandas", "pyarrow", "scikit-learn", "scipy")
DIGITS = 12


@functools.cache
def grading_version() -> str:
    """The release and the digest, as a PEP 440 local version.

    Two installations of the same release whose grading code differs by one byte have different
    grading versions, so workers of both are kept apart.

    >>> release, _, digest = grading_version().partition("+")
    >>> release == __version__, len(digest)
    (True, 12)
    """
    return f"{__version__}+{source_digest(Path(__file__).parent)}"


def source_digest(package: Path) -> str:
    """The digest of the deciding sources below `package`, as hexadecimal digits."""
    digest = hashlib.sha256()
    for file in decisive_files(package):
        source = file.read_bytes()
        digest.update(f"{file.relative_to(package).as_posix()}\0{len(source)}\0".encode())
        digest.update(source)
    return digest.hexdigest()[:DIGITS]


def decisive_files(package: Path) -> list[Path]:
    """The deciding sources below `package`, in the order of the digest."""
    packages = (sorted((package / name).rglob("*.py")) for name in DECISIVE_PACKAGES)
    return [*chain.from_iterable(packages), *(package / name for name in DECISIVE_MODULES)]


@functools.cache
def environment() -> str:
    """One line with the exact versions of Python and of the libraries that grades depend on."""
    libraries = " ".join(f"{name}-{version(name)}" for name in DECISIVE_LIBRARIES)
    return f"python-{platform.python_version()} {libraries}"
