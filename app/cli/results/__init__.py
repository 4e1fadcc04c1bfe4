"""`podium report`, and the import of results."""
