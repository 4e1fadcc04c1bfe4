"""Results of runs: medal rates, success rates, comparisons, exported reports."""
