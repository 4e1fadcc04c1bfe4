"""The queue of submissions for workers on other machines: Procrastinate's jobs in PostgreSQL."""
