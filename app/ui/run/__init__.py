"""One run: its timeline, trajectory, messages, forks."""
