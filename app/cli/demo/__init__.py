"""`podium demo`: a server, an agent, a medal."""
