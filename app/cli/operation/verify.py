"""`podium verify`: check a receipt, or compare stored files with their digests."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.context import require_podium
from app.cli.options import AsJson
from app.cli.output import err, out, print_json
from app.domain.wording import counted
from app.errors import Invalid
from app.units import MEGABYTE

if TYPE_CHECKING:
    from app.services.operations.verify_progress import VerifyProgress

STATE = "verify.json"  # in the data directory, while a comparison is interrupted


def verify(
    receipt: Annotated[
        Path | None,
        typer.Argument(metavar="[RECEIPT]", help="a receipt to check; default: the Podium here"),
    ] = None,
    signature: Annotated[
        Path | None, typer.Option(metavar="FILE", help="its signature; default: RECEIPT.sig")
    ] = None,
    allowed_signers: Annotated[
        Path | None, typer.Option(metavar="FILE", help="the keys that may sign, as OpenSSH's file")
    ] = None,
    revoked: Annotated[
        Path | None, typer.Option(metavar="FILE", help="the keys that were revoked")
    ] = None,
    log: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="a saved answer of /v1/log/proofs; several are possible"),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="an older checkpoint, to compare the log with"),
    ] = None,
    sample: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="compare N random files only")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="go on after the last file of an interrupted verify")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check a receipt, or compare stored files with their digests; exit 1 if damage is found.

    With RECEIPT or --log it needs neither a Podium nor a network: it checks what `ssh-keygen -Y
    verify` checks, at the receipt's time, and its place in the public log.

    Without them it checks the Podium of this data directory: the pages of a SQLite database, every
    file that a row names, the files of imported competitions on this machine, and receipts, the
    public log and the grades that were signed. Servers may work meanwhile. It changes nothing.
    """
    if receipt is not None or log:
        if sample is not None or resume:
            raise Invalid(
                "--sample and --resume are for the Podium here, without RECEIPT and --log."
            )
        from app.cli.receipts.check import Asked, check, print_checked

        asked = Asked(receipt, signature, allowed_signers, revoked, log or [], checkpoint)
        found = check(asked)
        print_json(found) if as_json else print_checked(found)
        return
    if signature or allowed_signers or revoked or checkpoint:
        raise Invalid(
            "--signature, --allowed-signers, --revoked and --checkpoint are for a receipt or an "
            "answer about the log: podium verify RECEIPT ..., or podium verify --log FILE ..."
        )
    from app.cli.progress import step_progress
    from app.read_settings import read_settings
    from app.services.operations.verify import verify as compare_files
    from app.services.operations.verify_progress import VerifyProgress, saved

    settings = read_settings()
    require_podium(settings)
    file = settings.data_dir / STATE
    comparison = (saved(file) if resume else None) or VerifyProgress(file)
    with step_progress() as progress:
        compare_files(settings, progress, sample=sample, progress=comparison)
    if as_json:
        damaged = [asdict(one) for one in comparison.damaged]
        print_json({"checked": comparison.checked, "bytes": comparison.bytes, "damaged": damaged})
    else:
        _print(comparison)
    if comparison.damaged:
        raise typer.Exit(1)


def _print(comparison: VerifyProgress) -> None:
    for one in comparison.damaged:
        err.print(f"{one.path}\n  {one.problem}", markup=False, soft_wrap=True)
        if one.needed_by:
            err.print(f"  needed by: {'; '.join(one.needed_by)}", markup=False, soft_wrap=True)
        err.print(f"  what to do: {one.remedy}", markup=False, soft_wrap=True)
    out.print(
        f"{counted(comparison.checked, 'file')} of {comparison.bytes / MEGABYTE:.1f} MB compared, "
        f"{len(comparison.damaged)} damaged or missing",
        highlight=False,
    )
