"""Commands that run a Podium and maintain its database and files."""
