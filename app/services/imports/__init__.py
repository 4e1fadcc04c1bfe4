"""Imports of results: grading reports, run groups, MLAgentBench's evaluations."""
