"""Signals: what a person should look at before a run counts. Pure functions of stored facts."""
