"""The public log, the keys that sign, and the receipts of runs."""
