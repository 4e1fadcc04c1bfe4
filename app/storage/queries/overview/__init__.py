"""Summaries of experiments for the page that lists them: few queries for any number of runs."""
