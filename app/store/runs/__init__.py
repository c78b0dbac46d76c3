"""What is kept of runs: traces, rows, search, retention."""
