"""HTTP and nothing else: one file per resource, endpoints of a few lines over the services."""
