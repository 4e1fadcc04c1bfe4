"""`podium receipts`, and `podium verify` of receipts."""
