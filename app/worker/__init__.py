"""Grade queued submissions: in a loop of the server, or in workers on other machines."""
