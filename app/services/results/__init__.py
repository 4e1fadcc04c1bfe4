"""Results of runs: medal rates, success rates, comparisons, imported reports."""
