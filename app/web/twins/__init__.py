"""The twins of a page: its table as CSV, and all of its facts as JSON."""
