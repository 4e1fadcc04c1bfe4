"""The exact versions of the libraries that a score depends on."""

from __future__ import annotations

import functools
import platform
from importlib.metadata import version

DECISIVE = ("numpy", "pandas", "pyarrow", "scikit-learn", "scipy")


@functools.cache
def environment() -> str:
    """One line that names Python and the libraries that grades depend on."""
    libraries = " ".join(f"{name}-{version(name)}" for name in DECISIVE)
    return f"python-{platform.python_version()} {libraries}"
