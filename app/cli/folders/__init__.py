"""Commands that work with competition folders, or with one file, and need no server."""
