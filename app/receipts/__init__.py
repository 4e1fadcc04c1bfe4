"""Signed receipts and the public log: values in, values out, no files and no database."""
