"""Competitions, leaderboards, medals, verdicts and states: pure rules, without I/O."""
