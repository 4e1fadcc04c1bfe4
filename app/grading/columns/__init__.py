"""The kinds of prediction columns, decoded from cells to arrays."""
