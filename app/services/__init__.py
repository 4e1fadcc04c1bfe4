"""What Podium does, one file per use case. Services take a Context and plain values."""
