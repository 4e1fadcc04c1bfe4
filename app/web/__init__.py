"""Pages for browsers: results, runs and the state of this Podium, made on the server."""
