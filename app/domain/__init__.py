"""What Podium knows about the world, without I/O: competitions, leaderboards, medals, states."""
