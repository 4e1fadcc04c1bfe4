"""The walls around a process that runs a metric.py: system calls, files, memory, rights."""
