"""Names of raw files. Many stand in tables and lists of the raw files, which a stranger wrote."""

from __future__ import annotations

from app.errors import Invalid


def require_inside(name: str) -> None:
    """Check that a path below a folder does not lead out of it.

    >>> require_inside("train/1.jpg")

    Raises:
        Invalid: it does, or would below another folder.
    """
    # After an empty part comes an absolute path: Path("public", "/etc/x") is /etc/x.
    if any(part in ("", "..") for part in name.split("/")):
        raise Invalid(
            f"The raw files name a file {name!r}, which leads out of their folder. Whoever packed "
            "them may have meant harm: download the competition's data again."
        )
