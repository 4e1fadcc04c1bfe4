"""Routes that import results: MLE-bench's grading reports, MLAgentBench's evaluations."""
