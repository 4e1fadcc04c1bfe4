"""MLE-bench's names for a harness; Podium grades."""
