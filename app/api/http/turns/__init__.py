"""Which requests wait, so that one holder of a key does not keep the others waiting."""
