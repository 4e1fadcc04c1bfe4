"""Imports of results: grading reports, run groups, evaluations of MLAgentBench, raw submissions."""
