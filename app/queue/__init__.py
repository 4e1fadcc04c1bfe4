"""How queued submissions reach workers on other machines: jobs in PostgreSQL, by Procrastinate."""
