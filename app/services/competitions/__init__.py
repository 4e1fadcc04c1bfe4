"""Read, import, prepare and check competitions."""
