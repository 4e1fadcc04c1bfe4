"""Small functions with MLE-bench's names."""

from __future__ import annotations

import json
import logging
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlebench.podium import PodiumError

PATH, DIGEST = "podium_path", "podium_digest"  # in a frame's `attrs`


@dataclass(frozen=True)
class PrivateAnswers:
    """Stands for answers, which are on Podium alone."""

    path: Path


def read_csv(path: Any, *args: Any, **kwargs: Any) -> Any:
    """A CSV file as a frame, which remembers its file so that Podium can grade it.

    Raises:
        PodiumError: pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError:
        raise PodiumError("read_csv needs pandas: pip install pandas.") from None
    frame = pd.read_csv(path, *args, **kwargs)
    if isinstance(path, str | Path):
        frame.attrs[PATH] = str(Path(path).resolve())
        frame.attrs[DIGEST] = digest(frame)
    return frame


def digest(frame: Any) -> str:
    """A digest of a frame's values and names, to notice that it was changed."""
    import hashlib

    import pandas as pd

    rows = pd.util.hash_pandas_object(frame, index=True).to_numpy().tobytes()
    return hashlib.sha256(repr(list(frame.columns)).encode() + rows).hexdigest()


def load_answers(path_to_answers: Path) -> PrivateAnswers:
    """A stand-in for the answers: graders take it, and nothing can be read from it."""
    return PrivateAnswers(Path(path_to_answers))


def load_yaml(fpath: Path) -> Any:
    """The content of a YAML file.

    Raises:
        PodiumError: PyYAML is not installed.
    """
    try:
        import yaml
    except ImportError:
        raise PodiumError("load_yaml needs PyYAML: pip install pyyaml.") from None
    return yaml.safe_load(Path(fpath).read_text())


def read_jsonl(file_path: str, skip_commented_out_lines: bool = False) -> list[dict[str, Any]]:
    """The documents of a file with one JSON document a line.

    Raises:
        ValueError: the file is not text, or a line is not JSON; it names the file and the line.
    """
    try:
        lines = Path(file_path).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(f"{file_path} is not text in UTF-8: {error}.") from None
    documents = []
    for number, line in enumerate(lines, 1):
        if line.strip() and not (skip_commented_out_lines and line.strip().startswith("//")):
            try:
                documents.append(json.loads(line))
            except ValueError as error:
                raise ValueError(f"{file_path}: line {number} is not JSON: {error}.") from None
    return documents


def get_logger(
    name: str, level: int = logging.INFO, filename: Path | None = None
) -> logging.Logger:
    """A logger that writes to standard error, or to a file, in MLE-bench's form."""
    form = "[%(asctime)s] [%(filename)s:%(lineno)d] %(message)s"
    logging.basicConfig(level=level, format=form, filename=filename)
    return logging.getLogger(name)


def get_timestamp() -> str:
    """The time now, for names of files."""
    return time.strftime("%Y-%m-%dT%H-%M-%S-%Z", time.localtime())


def purple(text: str) -> str:
    """The text, purple in a terminal."""
    return f"\033[1;35m{text}\033[0m"
