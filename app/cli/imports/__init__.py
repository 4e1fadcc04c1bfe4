"""`podium import`: a module for each source."""
