"""Read competitions from folders and archives, and results from files; check both."""
