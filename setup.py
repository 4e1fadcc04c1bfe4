"""What pyproject.toml cannot say: two directories of the repository are packages in the wheel.

`competitions/` and `migrations/` are installed inside `app`, where `app.bundled` finds them.
"""

from setuptools import find_packages, setup

BUNDLED = ("competitions", "migrations")

setup(
    packages=[*find_packages(include=["app*"]), *(f"app.{name}" for name in BUNDLED)],
    package_dir={f"app.{name}": name for name in BUNDLED},
    package_data={
        "app": ["py.typed"],
        "app.web": ["templates/*", "static/*", "static/vendor/*"],
        **{f"app.{name}": ["**/*"] for name in BUNDLED},
    },
    exclude_package_data={f"app.{name}": ["**/__pycache__/*"] for name in BUNDLED},
)
