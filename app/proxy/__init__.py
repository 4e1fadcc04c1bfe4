"""A small forwarder for an agent's container: it adds the run's key, and leads to one place only.

Nothing beyond the standard library, and no state.
"""
