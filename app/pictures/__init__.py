"""Pictures of results, for pages, commands and notebooks."""
