"""From a table to a competition: what is predicted, the split, leaks, the baseline, the folder."""
