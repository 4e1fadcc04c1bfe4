"""Tables of one subject each, beside those of `models`."""
