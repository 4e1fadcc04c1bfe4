"""Receipts of experiments, what each key may read of receipts, proofs, and checks."""
