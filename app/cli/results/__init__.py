"""Commands that print what an experiment achieved: scores, medal rates, statistics, pictures."""
