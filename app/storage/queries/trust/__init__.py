"""Signed receipts, the keys that sign them, and the public log."""
