"""Tables by subject; `models` has the others, and importing it gives all."""
