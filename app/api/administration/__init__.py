"""Routes for admins: archives, amendments, faults, keys and regrades."""
