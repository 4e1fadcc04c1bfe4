"""From the bytes of a submission to its score: pure, and the only judge of a file's form."""
