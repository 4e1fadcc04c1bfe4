"""The noise of an experiment's scores, and the medals that hang on it."""
