"""State that lasts as long as the process: connections, caches, batches, notifications."""
