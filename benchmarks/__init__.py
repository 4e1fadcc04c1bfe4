"""Measurements of Podium beside the reference way; `make bench` runs them all."""
