"""Raw files for a prepare.py, manifests of what it made, rows to search on."""
