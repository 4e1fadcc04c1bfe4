"""The noise of an experiment's scores, and the medals that depend on it."""
