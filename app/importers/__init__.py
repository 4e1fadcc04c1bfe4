"""From folders and archives into a staged competition: checked, complete and safe to keep."""
