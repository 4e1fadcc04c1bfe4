"""Read the settings of this process, and describe a wrong one in one sentence."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from dotenv import dotenv_values
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from app.errors import BadSettings
from app.python_files import directory_around
from app.settings import Settings

log = logging.getLogger("podium.storage")

PREFIX = "PODIUM_"
ENV_FILE = ".env"
# Variables of clients and verifiers, of the documentation's examples and of the tests. They are not
# settings.
OF_CLIENTS = frozenset(
    {
        "PODIUM_URL", "PODIUM_KEY", "PODIUM_RUN", "PODIUM_BIN", "PODIUM_EXPERIMENT", "PODIUM_SEED",
        "PODIUM_SUBMISSION", "PODIUM_TRIAL", "PODIUM_VERIFIER_LOGS", "PODIUM_WAIT_SECONDS",
    }
)  # fmt: skip
# PODIUM_TEST_* are for the tests. Kubernetes and Docker set the others for a service called podium.
NO_SETTING = re.compile(r"PODIUM_(TEST_.*|SERVICE_.*|PORT_[0-9]+_.*|NAME|ENV_.*)")
LONGEST_NAME = "x" * 100  # the length that paths in such a directory may add
PATTERNS = {  # the form of a setting's values
    "PODIUM_SIGNER_NAME": "a host name or address: letters, digits and . _ / @ : -, at most 100"
}
TYPES = {int: "a whole number", float: "a number", bool: "true or false", Path: "a path"}


def read_settings(*, reads_competitions: bool = True) -> Settings:
    """The settings in the environment and in `.env`.

    `reads_competitions` is false for an import, which may make the directory of competitions.

    Raises:
        BadSettings: a value cannot be used, a name is unknown, or the directory of competitions
            does not exist. The text names the variable and says what was expected.
    """
    _refuse_unknown_names()
    try:
        settings = Settings()
    except ValidationError as refusal:
        raise BadSettings(" ".join(_sentences(refusal))) from None
    except FileNotFoundError:  # a relative path begins at the working directory
        raise BadSettings(
            "The working directory was removed: go to one that is there (cd), and try again."
        ) from None
    _refuse_impossible_path("PODIUM_DATA_DIR", settings.data_dir)
    _refuse_impossible_path("PODIUM_COMPETITIONS_DIR", settings.competitions_dir)
    is_named = "competitions_dir" in settings.model_fields_set
    if reads_competitions and is_named and not settings.competitions_dir.is_dir():
        raise BadSettings(
            f"PODIUM_COMPETITIONS_DIR is {str(settings.competitions_dir)!r}: expected a directory "
            "with competition folders, and there is none."
        )
    return settings


def _refuse_impossible_path(name: str, directory: Path) -> None:
    """Refuse a path that no file system allows, for a directory or for a file in it."""
    try:
        str(directory).encode()
        (directory / LONGEST_NAME).lstat()
    except UnicodeEncodeError:
        raise BadSettings(f"{name} is {str(directory)!a}: expected a path in UTF-8.") from None
    except ValueError:  # it contains the character NUL, which `.env` may contain, but no variable
        raise BadSettings(f"{name} is {str(directory)!a}: no path has such a character.") from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise BadSettings(
                f"{name} is {str(directory)!r}: expected the path of a directory, and it has "
                "symbolic links that lead nowhere but to themselves."
            ) from None
        if error.errno == errno.ENAMETOOLONG:
            raise BadSettings(
                f"{name} is '{str(directory)[:100]}...': expected the path of a directory, and one "
                f"of {len(str(directory))} letters is too long."
            ) from None


def make_data_directory(directory: Path) -> None:
    """Make the data directory if it does not exist, and check that this process may write there.

    Only its owner may read it. `mkdir` makes directories that others may read, so an empty one gets
    the mode 0700. The mode of a directory that is in use or belongs to somebody else stays: see
    `warn_of_open_directory`.

    Raises:
        BadSettings: it cannot be made, or not written, or every metric.py could read it.
    """
    around = directory_around(directory)
    if around is not None:
        raise BadSettings(
            f"PODIUM_DATA_DIR is {str(directory)!r}: expected a directory outside {around}. Python "
            "loads its libraries from there, so every metric.py may read there, and could read the "
            "answers of all competitions. Choose another, such as /var/lib/podium."
        )
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if is_open_to_others(directory) and not any(directory.iterdir()):
            with contextlib.suppress(PermissionError):
                directory.chmod(0o700)
        may_write = os.access(directory, os.W_OK | os.X_OK)
        reason = "" if may_write else "permission denied, or its disk is read-only"
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
    if reason:
        raise BadSettings(
            f"PODIUM_DATA_DIR is {str(directory)!r}: expected a directory that this user can "
            f"write, but: {reason}."
        )


def require_usable(directory: Path) -> None:
    """Check that this process may read and write in a directory, if it exists.

    Raises:
        BadSettings: it may not, as where somebody ran Podium as root before.
    """
    if directory.is_dir() and not os.access(directory, os.R_OK | os.W_OK | os.X_OK):
        raise BadSettings(
            f"{str(directory)!r} is Podium's, and this user cannot read and write in it: "
            "permission denied, or its disk is read-only. Give it to the user who runs Podium, "
            "with all that is in the data directory (chown -R)."
        )


def is_open_to_others(directory: Path) -> bool:
    """Whether other users of the machine may read or enter the directory."""
    return bool(directory.stat().st_mode & 0o005)


def warn_of_open_directory(directory: Path) -> None:
    """Log a warning if other users of the machine may read the data directory."""
    if is_open_to_others(directory):
        log.warning(
            "other users of this machine may read the data directory, and so the private answers: "
            "close it with chmod o-rwx",
            extra={"directory": str(directory)},
        )


def variable(name: str, field: FieldInfo) -> str:
    """The environment variable of a field.

    >>> variable("port", Settings.model_fields["port"])
    'PODIUM_PORT'
    """
    alias = field.validation_alias
    return alias if isinstance(alias, str) else PREFIX + name.upper()


def expected(field: FieldInfo) -> str:
    """The values that a field accepts, in words.

    >>> expected(Settings.model_fields["port"]), expected(Settings.model_fields["dispatch"])
    ('a whole number from 0 to 65535', 'embedded or queue')
    """
    kind: Any = field.annotation
    if get_origin(kind) is Literal:
        *most, last = get_args(kind)
        return f"{', '.join(most)} or {last}"
    bounds = {name: limit for rule in field.metadata for name, limit in _bounds(rule)}
    words = TYPES.get(kind, "text")
    if "gt" in bounds:
        words += f" greater than {bounds['gt']:g}"
        if "le" in bounds:
            words += f", and at most {bounds['le']}"
    elif "ge" in bounds and "le" in bounds:
        return f"{words} from {bounds['ge']} to {bounds['le']}"
    elif "ge" in bounds:
        words += f" of at least {bounds['ge']:g}"
    return words


def _bounds(rule: Any) -> Iterable[tuple[str, Any]]:
    found = ((name, getattr(rule, name, None)) for name in ("ge", "gt", "le", "lt"))
    return ((name, limit) for name, limit in found if not isinstance(limit, NoneType))


def _sentences(refusal: ValidationError) -> Iterable[str]:
    fields = {variable(name, field): field for name, field in Settings.model_fields.items()}
    for mistake in refusal.errors(include_url=False):
        if not mistake["loc"]:  # a rule of `Settings` itself, whose value may be a secret
            yield f"{mistake['ctx']['error']}."
            continue
        place = str(mistake["loc"][0])
        name = place if place in fields else PREFIX + place.upper()
        value = str(mistake["input"])[:100]
        yield f"{name} is {value!r}: expected {PATTERNS.get(name) or expected(fields[name])}."


def _refuse_unknown_names() -> None:
    known = [variable(name, field) for name, field in Settings.model_fields.items()]
    try:
        in_file = dotenv_values(ENV_FILE) if Path(ENV_FILE).is_file() else {}
    except UnicodeDecodeError:
        raise BadSettings(f"{Path(ENV_FILE).absolute()} is not text in UTF-8.") from None
    for name in sorted({*os.environ, *in_file}):
        wanted = name.upper()
        is_ours = wanted.startswith(PREFIX) and wanted not in OF_CLIENTS
        if not is_ours or wanted in known or NO_SETTING.fullmatch(wanted):
            continue
        near = get_close_matches(wanted, known, 1)
        hint = f"did you mean {near[0]}?" if near else "docs/operations.md lists the settings."
        place = "" if name in os.environ else f" in {Path(ENV_FILE).absolute()}"
        raise BadSettings(f"{name}{place} is not a setting of Podium: {hint}")
