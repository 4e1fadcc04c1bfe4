"""Routes of signed receipts, frozen experiments and the public log."""
