"""Errors in a receipt, a proof or a checkpoint."""

from __future__ import annotations

from app.errors import Invalid


class BadReceipt(Invalid):
    """The receipt cannot be trusted.

    Its bytes were changed, its key is not allowed, was revoked, or was not valid at its time.
    """


class BadProof(Invalid):
    """The proof does not show what it has to show about the public log."""
