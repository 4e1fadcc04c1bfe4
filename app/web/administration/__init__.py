"""Pages for admins: the state of this Podium, its keys, imports of archives, reviews."""
