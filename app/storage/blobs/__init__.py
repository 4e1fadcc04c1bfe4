"""Files stored by their SHA-256, each content once: on this machine's disk or in an S3 store."""
