"""Routes by which admins keep order: archives, amendments, faults and keys."""
