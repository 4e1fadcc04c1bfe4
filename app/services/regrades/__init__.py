"""Grade all kept submissions of a competition anew, show what that changes, and apply it."""
