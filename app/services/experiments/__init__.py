"""Experiments, their runs, and scores that harnesses measured."""
