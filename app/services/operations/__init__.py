"""Backup, restore, health, metrics for Prometheus, and the first start."""
