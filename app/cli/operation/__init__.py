"""Commands that run a Podium and look after its database and files."""
