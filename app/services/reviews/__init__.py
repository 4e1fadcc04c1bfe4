"""Reviews: signals of graded submissions, and what a person decides about their runs."""
