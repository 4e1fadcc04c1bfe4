"""Large archives by ranges of bytes: single members, and the rest of what is there in part."""
