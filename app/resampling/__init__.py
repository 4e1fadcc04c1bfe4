"""The noise of a score: resampled rows of the test set, without files, answers or a database."""
