"""The files of Python and of the system libraries that it loads. Every metric.py may read them.

It imports only the standard library, as the program of a grader does before it is confined.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

import app


def python_files() -> list[Path]:
    """The files that Python reads to import modules, and the system libraries that these load."""
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, "/", "/usr"}
    below = [Path(prefix, name) for prefix in prefixes for name in ("lib", "lib64")]
    own = [Path(path) for name, path in sysconfig.get_paths().items() if "lib" in name]
    around = Path(app.__file__).parents[1]  # with `pip install --user`, a place of its own
    own += [around] if around.name in {"site-packages", "dist-packages"} else []
    return [
        *below,
        *own,
        Path(app.__file__).parent,
        Path(sys.prefix, "pyvenv.cfg"),
        Path("/etc/ld.so.cache"),
        Path("/etc/localtime"),
        Path("/usr/share/zoneinfo"),
        Path("/dev/urandom"),
        Path("/proc/cpuinfo"),
        Path("/proc/meminfo"),
    ]


def directory_around(path: Path) -> Path | None:
    """The directory of Python's files that contains a path; None if there is none.

    >>> directory_around(Path("/usr/lib/podium")), directory_around(Path("/var/lib/podium"))
    (PosixPath('/usr/lib'), None)
    """
    real = path.resolve()
    directories = (file.resolve() for file in python_files() if file.is_dir())
    return next((directory for directory in directories if real.is_relative_to(directory)), None)
