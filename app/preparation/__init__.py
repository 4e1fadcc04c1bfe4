"""From a table to a competition: read it, split it, propose a metric, look for leaks."""
