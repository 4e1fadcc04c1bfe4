"""A small forwarder for an agent's container: it adds the run's key, and has only one target.

It uses only the standard library, and has no state.
"""
