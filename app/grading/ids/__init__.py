"""The public ids, and the match of a submission's rows with them."""
