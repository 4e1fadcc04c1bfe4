"""How runs chose their final submissions, and what other choices would have won."""
