"""The table of a board: its columns, named, chosen and put in order."""
